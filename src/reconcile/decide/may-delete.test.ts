import { beforeEach, describe, expect, it } from "vitest";
import { keyPair } from "../../../test/fakes/reconcile/key-pairs.ts";
import { Scene } from "../../../test/fakes/reconcile/scene.ts";
import { digestOf } from "../../account/key-proof.ts";
import { APIKey } from "../../kinds/api-key.ts";
import { EventSource } from "../../kinds/event-source.ts";
import { EventSubscription } from "../../kinds/event-subscription.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import { TCPEdge } from "../../kinds/tcp-edge.ts";
import { TLSCertificate } from "../../kinds/tls-certificate.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { withOwnerMark } from "../../objects/ownership.ts";
import { Outdated } from "../../objects/reconcile-error.ts";
import { deleteRemote } from "../apply/delete-remote.ts";
import { reconcile } from "../reconcile.ts";
import { ensureDeletable, mayDelete, waysToDelete } from "./may-delete.ts";

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});

it("each check has a name of its own and one sentence, and what is left out has one as well", () => {
  const names = mayDelete.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  const reasons = [
    ...mayDelete.map(({ why }) => why),
    ...Object.values(waysToDelete).flatMap(({ when, leavesOut = {} }) => [when, ...Object.values(leavesOut)]),
  ];
  for (const reason of reasons) expect(reason).toMatch(/^[A-Z][^.]*\.$/);
});

it("a remote is deleted after all checks, whoever wants it deleted", () => {
  for (const way of ["ended", "recreated", "replaced", "leftover"] as const)
    expect(waysToDelete[way].leavesOut).toBeUndefined();
});

describe("a permit", () => {
  let policy: ManagedObject;
  let assertValid: () => void;

  beforeEach(async () => {
    policy = await scene.given(IPPolicy, "office");
    const permit = await ensureDeletable(scene.contextFor(policy), { id: scene.idOf(policy), way: "ended" });
    assertValid = permit.request.assertValid ?? (() => {});
  });

  it("counts for half a minute, and no DELETE is sent after that", async () => {
    await scene.clock.advance(30_000);
    assertValid();
    await scene.clock.advance(1);
    expect(assertValid).toThrow(Outdated);
  });

  it("does not count once an object refers to the remote", async () => {
    scene.cluster.delete(policy);
    const { request } = await ensureDeletable(scene.contextFor(policy), { id: scene.idOf(policy), way: "ended" });
    request.assertValid?.();
    scene.cluster.apply(TCPEdge, "db", { ipRestriction: { enabled: true, ipPolicyRefs: [{ name: "office" }] } });
    expect(request.assertValid).toThrow(Outdated);
  });

  it("does not count once another object wants the entry", async () => {
    const list = await scene.given(EventSubscription, "all", { sources: [], destinationIds: ["ed_1"] });
    const entry = await scene.given(EventSource, "one", { subscriptionRef: { name: "all" }, type: "a.v0" });
    scene.cluster.delete(entry);
    const { request } = await ensureDeletable(scene.contextFor(entry), { id: scene.idOf(entry), way: "ended" });
    request.assertValid?.();
    scene.cluster.apply(EventSubscription, "all", { ...scene.cluster.now(list).spec, sources: [{ type: "a.v0" }] });
    expect(request.assertValid).toThrow(Outdated);
  });

  it("does not count once an answer shows that somebody has marked the remote", async () => {
    const metadata = withOwnerMark(undefined, { cluster: "c2", namespace: "team-b", name: "office" });
    scene.gateway.change(IPPolicy.resource, scene.idOf(policy), { metadata });
    assertValid();
    await scene.resync(IPPolicy);
    expect(assertValid).toThrow(Outdated);
  });

  it("does not count once the object has another account", async () => {
    const context = scene.contextFor(policy);
    const { account } = context;
    let isMoved = false;
    Object.defineProperty(context, "account", {
      get: () => {
        if (isMoved) throw new Outdated("another account");
        return account;
      },
    });
    const { request } = await ensureDeletable(context, { id: scene.idOf(policy), way: "ended" });
    request.assertValid?.();
    isMoved = true;
    expect(request.assertValid).toThrow("another account");
  });
});

it("a key that the operator sends with is not deleted to be created again", async () => {
  scene.gateway.normalise = (remote) => ({ ...remote, token: `token of ${remote.id}` });
  const key = await scene.given(APIKey, "robot", { tokenSecretName: "token" });
  const id = scene.idOf(key);
  scene.cluster.keyUsers.set(digestOf(`token of ${id}`), [{ name: "the operator", isDeleting: false }]);
  const refusal = await deleteRemote(scene.contextFor(key), id, "recreated");
  expect(refusal).toMatchObject({ check: "keyIsUnused", error: { reason: "InUse" } });
  expect(scene.gateway.remotesOf(APIKey.resource)).toMatchObject([{ id }]);
});

describe("a certificate that was replaced, while another deletion has taken the turn of this minute", () => {
  const certificates = () => scene.gateway.remotesOf(TLSCertificate.resource).map(({ id }) => id);
  let object: ManagedObject;

  beforeEach(async () => {
    scene = new Scene({ deletesPerMinute: 1 });
    scene.cluster.setSecret("tls", keyPair("first"));
    object = await scene.given(TLSCertificate, "web", { secretName: "tls" });
    scene.cluster.setSecret("tls", keyPair("second"));
    await scene.reconcile(object);
    expect(scene.account.deleteLimiter.secondsUntilTurn("another", "team-b")).toBe(0);
  });

  it("waits for its turn, and is deleted then", async () => {
    expect(await scene.reconcile(object)).toEqual({ requeueAfterSeconds: 60 });
    expect(certificates()).toEqual(["cert_1", "cert_2"]);
    await scene.clock.advance(60_000);
    await scene.reconcile(object);
    expect(certificates()).toEqual(["cert_2"]);
  });

  it("stops no further renewal, and the object says nothing of it", async () => {
    await scene.reconcile(object);
    scene.cluster.setSecret("tls", keyPair("third"));
    await scene.reconcile(object);
    expect(scene.idOf(object)).toBe("cert_3");
    expect(scene.condition(object, "Synced")?.status).toBe("True");
    expect(scene.cluster.events.filter(({ type }) => type === "Warning")).toEqual([]);
  });
});

it("an entry that was replaced and that others want stays, and is not said to be deleted", async () => {
  const first = await scene.given(EventSubscription, "first");
  const second = await scene.given(EventSubscription, "second");
  const source = await scene.given(EventSource, "one", { subscriptionRef: { name: "first" }, type: "a.v0" });
  await scene.given(EventSource, "two", { subscriptionRef: { name: "first" }, type: "a.v0" });
  await scene.apply(EventSource, "one", { subscriptionRef: { name: "second" }, type: "a.v0" });
  const context = scene.contextFor(source);
  await reconcile(context, { resyncSeconds: 300 });
  const sources = (object: ManagedObject) =>
    scene.gateway.remote(EventSubscription.resource, scene.idOf(object))?.["sources"];
  expect([sources(first), sources(second)]).toMatchObject([[{ type: "a.v0" }], [{ type: "a.v0" }]]);
  expect(scene.cluster.now(source).status?.retiring).toBeUndefined();
  expect(context.changes).toEqual([]);
});
