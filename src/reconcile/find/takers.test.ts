import { beforeEach, describe, expect, it } from "vitest";
import { keyPair } from "../../../test/fakes/reconcile/key-pairs.ts";
import { ownerIn } from "../../../test/fakes/reconcile/owner-in.ts";
import { Scene } from "../../../test/fakes/reconcile/scene.ts";
import { HTTPSEdgeRoute } from "../../kinds/https-edge-route.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import { ReservedDomain } from "../../kinds/reserved-domain.ts";
import { TLSCertificate } from "../../kinds/tls-certificate.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { ownerMark, withOwnerMark } from "../../objects/ownership.ts";
import { annotations } from "../../schema/contract.ts";

// An object asks for a remote that another object has, had, or asks for as well.

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});

/** No mark can be added to it. */
const metadata = "opaque";
const longAgo = "2020-01-01T00:00:00Z";

const conflictWith = (name: string) => new RegExp(`^OwnershipConflict: .* team-a/${name}, which has `);
const changes = () => scene.gateway.takeCalls().filter((call) => !/^(get|list)/.test(call));
const metadataFor = (name: string) => withOwnerMark(undefined, { cluster: "c1", namespace: "team-a", name }) ?? "";
const markOf = (id: string) => ownerIn(scene.gateway.remote(IPPolicy.resource, id) ?? {});

it("a domain without a mark that another object has is not adopted by its name, not even by an older object", async () => {
  const spec = { domain: "a.example.com", metadata };
  await scene.given(ReservedDomain, "first", spec);
  const second = await scene.apply(
    ReservedDomain,
    "second",
    { ...spec, adopt: { existing: true }, description: "second" },
    { creationTimestamp: longAgo },
  );
  expect(scene.reason(second)).toMatch(conflictWith("first"));
  expect(scene.idOf(second)).toBe("");
  expect(changes()).toEqual([]);
});

it("a certificate without a mark that was replaced and is still in use is not adopted, also while its object is paused", async () => {
  scene.cluster.setSecret("tls", keyPair("first"));
  const first = await scene.given(TLSCertificate, "first", { secretName: "tls", metadata });
  const old = scene.idOf(first);
  await scene.given(ReservedDomain, "user", { domain: "a.example.com", certificateRef: { id: old } });
  scene.cluster.setSecret("tls", keyPair("second"));
  await scene.settle(first, 3);
  expect(scene.cluster.now(first).status?.retiring).toEqual([old]);
  scene.cluster.annotateByHand(first, annotations.paused, "true");
  scene.resetCounts();
  const spec = { secretName: "tls", metadata, adopt: { id: old } };
  const second = await scene.apply(TLSCertificate, "second", spec, { creationTimestamp: longAgo });
  expect(scene.reason(second)).toMatch(conflictWith("first"));
  expect(changes()).toEqual([]);
});

it("a route stays with the object that sets its modules when an older one, which has another route, comes to name it", async () => {
  const webhookVerification = { enabled: true, provider: "sns" };
  const [one, other] = ["one", "other"].map(() => scene.gateway.seed(HTTPSEdgeRoute.resource, {}).id);
  const specOf = (routeId = "", provider = "sns") => ({
    edgeId: "edghts_1",
    routeId,
    webhookVerification: { ...webhookVerification, provider },
  });
  const older = await scene.given(HTTPSEdgeRoute, "older", specOf(one));
  await scene.clock.advance(5_000);
  const younger = await scene.given(HTTPSEdgeRoute, "younger", specOf(other));
  await scene.apply(HTTPSEdgeRoute, "older", specOf(other, "github"));
  expect(scene.reason(older)).toMatch(conflictWith("younger"));
  await scene.apply(HTTPSEdgeRoute, "younger", specOf(other, "slack"));
  await scene.settle(younger, 3);
  expect(scene.reason(younger)).toMatch(/^Available/);
  const route = scene.gateway.remote(HTTPSEdgeRoute.resource, other ?? "");
  expect(route?.["webhook_verification"]).toMatchObject({ provider: "slack" });
});

describe("a remote for which an older object asks", () => {
  const adopting = (id: string) => ({ adopt: { id } });

  it("is left to that one by the younger one, also when that has no remote yet", async () => {
    const { id } = scene.gateway.seed(IPPolicy.resource, {});
    const older = scene.cluster.apply(IPPolicy, "older", adopting(id));
    await scene.clock.advance(5_000);
    const younger = await scene.apply(IPPolicy, "younger", adopting(id));
    expect(scene.reason(younger)).toMatch(conflictWith("older"));
    await scene.reconcile(older);
    expect(scene.reason(older)).toMatch(/^Available/);
  });

  it.each([
    ["is being deleted", { finalizers: ["example.com/keep"] }, {}, (object: ManagedObject) => scene.delete(object)],
    ["is of another account", {}, { accountRef: { name: "other" } }, async () => {}],
  ])("is adopted by the younger one when the older one %s", async (_, more, spec, prepare) => {
    const { id } = scene.gateway.seed(IPPolicy.resource, {});
    const older = scene.cluster.apply(IPPolicy, "older", { ...adopting(id), ...spec }, more);
    await prepare(older);
    await scene.clock.advance(5_000);
    const younger = await scene.apply(IPPolicy, "younger", adopting(id));
    expect(scene.reason(younger)).toMatch(/^Available/);
  });

  it("is found again at once by the younger one whose mark it has, after its status was lost and a restart", async () => {
    const { id } = scene.gateway.seed(IPPolicy.resource, {});
    const younger = await scene.given(IPPolicy, "younger", adopting(id));
    scene.cluster.apply(IPPolicy, "older", adopting(id), { creationTimestamp: longAgo });
    scene.cluster.loseStatus(younger);
    scene.restart();
    await scene.reconcile(younger);
    expect(scene.reason(younger)).toMatch(/^Available/);
  });
});

describe("a remote whose id the statuses of two objects have, right after a restart", () => {
  let first: ManagedObject;
  let second: ManagedObject;
  let id: string;

  beforeEach(async () => {
    first = await scene.given(IPPolicy, "first");
    id = scene.idOf(first);
    await scene.clock.advance(5_000);
    second = await scene.given(IPPolicy, "second");
    await scene.cluster.writeStatus(IPPolicy, second, scene.cluster.now(first).status ?? {});
    // Otherwise it would find again what its own create has made.
    scene.cluster.removeAnnotation(second, annotations.createIntent);
    scene.restart();
  });

  it("is changed by the younger one at once, if it has the mark of that", async () => {
    scene.gateway.change(IPPolicy.resource, id, { metadata: metadataFor("second") });
    await scene.apply(IPPolicy, "second", { description: "edited" });
    expect(scene.reason(second)).toMatch(/^Available/);
    expect(scene.gateway.remote(IPPolicy.resource, id)?.["description"]).toBe("edited");
  });

  it("is the younger one's when the older one vanishes while the mark is read", async () => {
    scene.gateway.beforeCall = () => scene.cluster.vanish(first);
    await scene.reconcile(second);
    expect(scene.reason(second)).toMatch(/^Available/);
  });
});

it("a mark counts while its object has neither a remote nor an intent, as after a restore of the spec alone", async () => {
  const named = await scene.given(IPPolicy, "named");
  const id = scene.idOf(named);
  scene.cluster.loseStatus(named);
  for (const name of [annotations.createIntent]) scene.cluster.removeAnnotation(named, name);
  scene.restart();
  const other = await scene.apply(IPPolicy, "other", { adopt: { id } });
  expect(scene.reason(other)).toMatch(/^OwnershipConflict: .* it belongs to c1\/team-a\/named/);
  await scene.settle(named, 3);
  expect(scene.idOf(named)).toBe(id);
  expect(markOf(id)).toBe(ownerMark({ cluster: "c1", namespace: "team-a", name: "named" }));
});

it("a mark counts while its object has no remote yet, also when that names another account", async () => {
  scene.cluster.apply(IPPolicy, "named", { accountRef: { name: "other" } });
  const { id } = scene.gateway.seed(IPPolicy.resource, { metadata: metadataFor("named") });
  const object = await scene.apply(IPPolicy, "one", { adopt: { id } });
  expect(scene.reason(object)).toMatch(/^OwnershipConflict: .* it belongs to c1\/team-a\/named/);
});

it("a mark counts no more when the object that it names has another remote, in another account", async () => {
  const named = scene.cluster.apply(IPPolicy, "named", { accountRef: { name: "other" } });
  await scene.cluster.writeStatus(IPPolicy, named, { id: "ipp_of_other_account" });
  const { id } = scene.gateway.seed(IPPolicy.resource, { metadata: metadataFor("named") });
  scene.restart();
  const object = await scene.apply(IPPolicy, "one", { adopt: { id } });
  expect(scene.reason(object)).toMatch(/^Available/);
  expect(markOf(id)).toBe(ownerMark({ cluster: "c1", namespace: "team-a", name: "one" }));
});

it("a mark that was not replaced when its remote moved counts no more once its object only observes", async () => {
  const from = await scene.given(IPPolicy, "from");
  const id = scene.idOf(from);
  scene.cluster.annotateByHand(from, annotations.releaseTo, "team-a/to");
  scene.gateway.refuse("update", 503);
  const to = await scene.apply(IPPolicy, "to", { adopt: { id, from: "team-a/from" } });
  expect(scene.cluster.now(to).status).toMatchObject({ id });
  scene.cluster.removeAnnotation(from, annotations.releaseTo);
  await scene.apply(IPPolicy, "from", { adopt: { id }, managementPolicy: "ObserveOnly" });
  await scene.settle(to, 3);
  expect(scene.reason(to)).toMatch(/^Available/);
  expect(markOf(id)).toBe(ownerMark({ cluster: "c1", namespace: "team-a", name: "to" }));
});

it("a certificate without a mark that an object has is not taken back by one that lost its status while it replaced it", async () => {
  scene.cluster.setSecret("tls", keyPair("first"));
  const lost = await scene.given(TLSCertificate, "lost", { secretName: "tls", metadata });
  const id = scene.idOf(lost);
  scene.cluster.setSecret("tls", keyPair("second"));
  scene.gateway.swallow("create");
  await scene.reconcile(lost);
  scene.cluster.loseStatus(lost);
  scene.cluster.setSecret("same", keyPair("first"));
  const other = await scene.given(TLSCertificate, "other", { secretName: "same", metadata, adopt: { id } });
  scene.restart();
  await scene.settle(lost, 5);
  expect([scene.idOf(other), scene.idOf(lost)]).toEqual([id, expect.stringMatching(/^cert_/)]);
  expect(scene.idOf(lost)).not.toBe(id);
  expect(scene.gateway.remote(TLSCertificate.resource, id)).toBeDefined();
});
