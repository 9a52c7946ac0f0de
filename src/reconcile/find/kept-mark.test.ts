import { beforeEach, describe, expect, it } from "vitest";
import { keyPair } from "../../../test/fakes/reconcile/key-pairs.ts";
import { ownerIn } from "../../../test/fakes/reconcile/owner-in.ts";
import { Scene } from "../../../test/fakes/reconcile/scene.ts";
import { TLSCertificate } from "../../kinds/tls-certificate.ts";
import { TLSEdge } from "../../kinds/tls-edge.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { annotations } from "../../schema/contract.ts";

// An edge moves from team-a/old to team-b/new, and the service does not let the operator replace the mark of team-a/old.

let scene: Scene;
let to: ManagedObject;
let id: string;

const description = "one";
const edges = () => scene.gateway.remotesOf(TLSEdge.resource);

/** Hands a remote of team-a/old over to team-b/new, and ends team-a/old. */
async function move(kind: typeof TLSEdge | typeof TLSCertificate, spec: ManagedObject["spec"]): Promise<void> {
  const old = await scene.given(kind, "old", spec);
  id = scene.idOf(old);
  scene.cluster.annotateByHand(old, annotations.releaseTo, "team-b/new");
  const adopt = { id, from: "team-a/old" };
  to = scene.cluster.apply(kind, "new", { ...spec, adopt }, { namespace: "team-b" });
  for (const object of [to, old, to, old]) await scene.reconcile(object);
  await scene.delete(old);
  await scene.reconcile(to);
}

/** The next process does not know whether team-a/old has ended, or may not see its namespace. */
function restart(): void {
  scene.restart();
  scene.cluster.knowsEnds = false;
}

beforeEach(() => {
  scene = new Scene({ undocumented: false, extraKinds: [TLSCertificate] });
});

describe("an edge that keeps the mark of the object that handed it over", () => {
  beforeEach(async () => {
    await move(TLSEdge, { description });
    expect(edges().map(ownerIn)).toEqual(["c1/team-a/old"]);
    expect(scene.reason(to)).toMatch(/^Available/);
  });

  it("stays with the new object after a restart", async () => {
    restart();
    await scene.settle(to);
    expect(scene.reason(to)).toMatch(/^Available/);
    scene.resetCounts();
    await scene.reconcile(to);
    expect([scene.gateway.takeCalls(), scene.cluster.writes]).toEqual([[], []]);
  });

  it("says so in the status, and no more once the mark is its own", async () => {
    const status = () => scene.cluster.now(to).status;
    expect(status()).toMatchObject({
      formerOwner: expect.stringMatching(/^c1\/team-a\/old#/),
      owner: "c1/team-b/new",
    });
    scene.gateway.change(TLSEdge.resource, id, { metadata: '{"tunnelgateway.dev/owner":"c1/team-b/new"}' });
    await scene.resync(TLSEdge, to);
    expect([status()?.formerOwner, status()?.owner]).toEqual([undefined, undefined]);
  });

  it("is not frozen by whoever makes an object under the former name", async () => {
    const again = scene.cluster.apply(TLSEdge, "old", { description: "another" });
    scene.cluster.annotateByHand(again, annotations.paused, "true");
    for (const object of [again, to]) await scene.reconcile(object);
    expect(scene.reason(to)).toMatch(/^Available/);
    scene.cluster.removeAnnotation(again, annotations.paused);
    for (const object of [again, to]) await scene.settle(object, 3);
    expect(scene.reason(to)).toMatch(/^Available/);
    expect(scene.idOf(again)).not.toBe(id);
  });

  it("gives a copy of the status no power", async () => {
    restart();
    const { status } = scene.cluster.now(to);
    scene.cluster.vanish(to);
    const copy = scene.cluster.apply(TLSEdge, "copy", { description: "copied" });
    if (status) scene.cluster.restore({ ...copy, status });
    await scene.settle(copy, 3);
    expect(scene.reason(copy)).toMatch(/^OwnershipConflict/);
    expect(edges()).toMatchObject([{ id, description }]);
  });

  it("counts as a foreign one again when somebody else has marked the edge since", async () => {
    scene.gateway.change(TLSEdge.resource, id, { metadata: '{"tunnelgateway.dev/owner":"c1/team-a/other"}' });
    restart();
    await scene.settle(to, 3);
    expect(scene.reason(to)).toMatch(/^OwnershipConflict/);
  });
});

it("an edge that keeps the mark of a former object is deleted with the new one", async () => {
  scene = new Scene();
  scene.gateway.beforeCall = ({ verb }) => {
    if (verb === "update") scene.gateway.refuse("update", 400);
  };
  await move(TLSEdge, { description });
  expect(edges().map(ownerIn)).toEqual(["c1/team-a/old"]);
  restart();
  await scene.deleteAndSettle(to);
  expect(scene.cluster.exists(to)).toBe(false);
  expect(edges()).toEqual([]);
});

it("a certificate with the mark of a former object is deleted after its replacement, also after a restart", async () => {
  scene.cluster.setSecret("tls", keyPair("first"));
  await move(TLSCertificate, { secretName: "tls" });
  scene.cluster.setSecret("tls", keyPair("second"));
  await scene.reconcile(to);
  expect(scene.cluster.now(to).status).toMatchObject({ id: "cert_2", retiring: [id] });
  restart();
  await scene.settle(to, 8);
  expect(scene.gateway.remotesOf(TLSCertificate.resource).map((one) => one.id)).toEqual(["cert_2"]);
  const { status } = scene.cluster.now(to);
  expect([status?.retiring, status?.formerOwner]).toEqual([undefined, undefined]);
});
