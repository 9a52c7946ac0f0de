import { beforeEach, describe, expect, it, vi } from "vitest";
import { keyPair } from "../../../test/fakes/reconcile/key-pairs.ts";
import { DEADLINE_MS, Scene } from "../../../test/fakes/reconcile/scene.ts";
import { GatewayError } from "../../gateway/errors.ts";
import { EventSource } from "../../kinds/event-source.ts";
import { EventSubscription } from "../../kinds/event-subscription.ts";
import { HTTPSEdgeRoute } from "../../kinds/https-edge-route.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import { TCPEdge } from "../../kinds/tcp-edge.ts";
import { TLSCertificate } from "../../kinds/tls-certificate.ts";
import { TLSEdge } from "../../kinds/tls-edge.ts";
import { TunnelGroupBackend } from "../../kinds/tunnel-group-backend.ts";
import { maxProcessingMs } from "../../objects/intent.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { withOwnerMark } from "../../objects/ownership.ts";
import { annotations, FINALIZER } from "../../schema/contract.ts";

// Deletions of objects for which the operator sends no DELETE, or sends it later, and what the objects say meanwhile.

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});

const policies = () => scene.gateway.remotesOf(IPPolicy.resource);
const restriction = (id: string) => ({ ip_restriction: { enabled: true, ip_policy_ids: [id] } });
const settleSeconds = maxProcessingMs(DEADLINE_MS) / 1000 + 0.5;
const notes = () => scene.cluster.events.map(({ note }) => note);

it("an object without id and create deletes nothing, whatever bears its mark", async () => {
  scene = new Scene();
  const metadata = withOwnerMark(undefined, { cluster: "c1", namespace: "team-a", name: "office" });
  scene.gateway.seed(IPPolicy.resource, { metadata });
  const object = scene.cluster.apply(IPPolicy, "office", {}, { finalizers: [FINALIZER] });
  expect(await scene.delete(object)).toEqual({});
  expect([scene.cluster.exists(object), policies().length]).toEqual([false, 1]);
});

describe("a remote without an owner mark, while not all objects of its kind can be read", () => {
  const unmarked = { metadata: "opaque" };

  async function endsOnceReadable(object: ManagedObject): Promise<void> {
    scene.cluster.visibility.clear();
    await scene.settle(object);
    expect(scene.cluster.exists(object)).toBe(false);
    expect(policies()).toEqual([]);
  }

  it("is not deleted, since one of them may have it", async () => {
    const object = await scene.given(IPPolicy, "office", unmarked);
    scene.cluster.visibility.set("IPPolicy", "Unreadable");
    await scene.delete(object);
    expect(scene.reason(object)).toMatch(
      /^InUse: Let the operator list .* IPPolicy objects: one of them may have ipp_1$/,
    );
    expect(policies()).toHaveLength(1);
    await endsOnceReadable(object);
  });

  it("goes when its id was not recorded, since it bears the owner mark until then", async () => {
    scene.gateway.loseAnswer("create");
    const object = await scene.apply(IPPolicy, "office", unmarked);
    scene.cluster.visibility.set("IPPolicy", "Unreadable");
    scene.cluster.namespaceDeleting = true;
    await scene.delete(object);
    expect(scene.cluster.exists(object)).toBe(false);
    expect(policies()).toEqual([]);
  });
});

it("an object that has ended in spite of its finalizer leaves what cannot be deleted, and says so", async () => {
  const object = await scene.given(IPPolicy, "office");
  scene.cluster.unfinalized.push(object);
  scene.gateway.refuse("delete", 405);
  expect(await scene.delete(object)).toEqual({});
  expect(notes()).toEqual([
    "Left ipp_1 in the account: the service cannot delete an IP policy, and the object is gone",
  ]);
});

it("finalizers that Kubernetes itself removes are not waited for", async () => {
  const finalizers = ["foregroundDeletion", "orphan"];
  const object = scene.cluster.apply(IPPolicy, "office", {}, { finalizers });
  expect(await scene.delete(object)).toEqual({});
  expect(scene.cluster.now(object).status).toBeUndefined();
});

it("an object that retains its remote does not warn of an account that is declared gone", async () => {
  const object = await scene.given(IPPolicy, "office", { deletionPolicy: "Retain" });
  scene.cluster.isAccountAbandoned = true;
  await scene.delete(object);
  expect(scene.cluster.exists(object)).toBe(false);
  expect(scene.cluster.events).toEqual([]);
});

describe("an object that retains its remote, and whose create", () => {
  const retained = { deletionPolicy: "Retain" } as const;

  it("was refused, goes at once", async () => {
    scene.gateway.refuse("create", 400);
    const object = await scene.apply(IPPolicy, "office", retained);
    expect(await scene.delete(object)).toEqual({});
    expect(scene.cluster.exists(object)).toBe(false);
  });

  it("may still be carried out, waits until that is over, and sends nothing", async () => {
    scene.gateway.swallow("create");
    const object = await scene.apply(IPPolicy, "office", retained);
    scene.gateway.takeCalls();
    await scene.clock.advance(10_000);
    expect(await scene.delete(object)).toEqual({ requeueAfterSeconds: expect.closeTo(settleSeconds - 10, 0) });
    expect(scene.reason(object)).toMatch(/^Creating: Waiting until it is certain/);
    await scene.clock.advance((settleSeconds - 10) * 1000);
    expect(await scene.reconcile(object)).toEqual({});
    expect(scene.cluster.exists(object)).toBe(false);
    expect(scene.gateway.takeCalls()).toEqual([]);
  });

  it("may have been carried out before a restart, waits as if it were new, since the time of the service is unknown", async () => {
    scene.gateway.swallow("create");
    const object = await scene.apply(IPPolicy, "office", retained);
    await scene.clock.advance(3_600_000);
    scene.restart();
    expect(await scene.delete(object)).toEqual({ requeueAfterSeconds: expect.closeTo(settleSeconds, 0) });
    await scene.clock.advance(settleSeconds * 1000);
    expect(await scene.reconcile(object)).toEqual({});
    expect(scene.cluster.exists(object)).toBe(false);
  });

  it("was carried out unnoticed, leaves it to the next object of its name", async () => {
    scene.gateway.loseAnswer("create");
    const object = await scene.apply(IPPolicy, "office", retained);
    await scene.deleteAndSettle(object);
    expect(scene.cluster.exists(object)).toBe(false);
    const next = await scene.apply(IPPolicy, "office", retained);
    expect(scene.idOf(next)).toBe("ipp_1");
    expect(policies()).toHaveLength(1);
  });

  it("may still be carried out, goes at once where a person gives the remote up", async () => {
    scene.gateway.swallow("create");
    const object = await scene.apply(IPPolicy, "office", retained);
    scene.cluster.annotateByHand(object, annotations.orphan, "true");
    expect(await scene.delete(object)).toEqual({});
    expect(scene.cluster.exists(object)).toBe(false);
  });

  it("may still be carried out, goes at once where it adds an entry, which the next object finds by its name", async () => {
    await scene.given(EventSubscription, "audit");
    scene.gateway.swallow("createSource");
    const spec = { subscriptionRef: { name: "audit" }, type: "a_created.v0", ...retained };
    const object = await scene.apply(EventSource, "one", spec);
    expect(await scene.delete(object)).toEqual({});
    expect(scene.cluster.exists(object)).toBe(false);
  });
});

it.each<[string, (object: ManagedObject) => void]>([
  ["is given up by a person", (object) => scene.cluster.annotateByHand(object, annotations.orphan, "true")],
  ["is released", (object) => scene.cluster.annotateByHand(object, annotations.releaseTo, "team-b/office")],
  ["only observes by then", () => scene.cluster.apply(IPPolicy, "office", { managementPolicy: "ObserveOnly" })],
])("what was created unnoticed for an object that %s is left to the next object of its name", async (_, change) => {
  scene.gateway.loseAnswer("create");
  const object = await scene.apply(IPPolicy, "office");
  change(object);
  await scene.deleteAndSettle(object);
  expect(scene.cluster.exists(object)).toBe(false);
  await scene.apply(IPPolicy, "office");
  expect(policies()).toMatchObject([{ id: "ipp_1" }]);
});

it("an entry that somebody has added after a refused create stays, also with deletionPolicy: Delete", async () => {
  const subscription = await scene.given(EventSubscription, "audit");
  const { resource } = EventSubscription;
  scene.gateway.refuse("createSource", 400);
  const spec = { subscriptionRef: { name: "audit" }, type: "a_created.v0", deletionPolicy: "Delete" as const };
  const object = await scene.apply(EventSource, "one", spec);
  expect(scene.idOf(object)).toBe("");
  scene.gateway.change(resource, scene.idOf(subscription), { sources: [{ type: "a_created.v0" }] });
  await scene.resync(EventSubscription);
  await scene.deleteAndSettle(object);
  expect(scene.cluster.exists(object)).toBe(false);
  expect(scene.gateway.remotesOf(resource)).toMatchObject([{ sources: [{ type: "a_created.v0" }] }]);
});

it("a deletion that fails has written down the remote that it has found", async () => {
  scene.gateway.loseAnswer("create");
  const object = await scene.apply(IPPolicy, "office");
  await scene.clock.advance(60_000);
  scene.gateway.refuse("delete", 503);
  await scene.delete(object);
  expect(scene.idOf(object)).toBe("ipp_1");
  await scene.settle(object);
  expect(policies()).toEqual([]);
});

it("no DELETE is sent when it had to wait for so long that something may use the remote by now", async () => {
  const policy = await scene.given(IPPolicy, "office");
  const { turns } = scene.account;
  const acquire = turns.acquire.bind(turns);
  vi.spyOn(turns, "acquire").mockImplementation(async (asking) => {
    await scene.clock.advance(31_000);
    return acquire(asking);
  });
  expect(await scene.delete(policy)).toEqual({ stale: true });
  expect(scene.gateway.takeCalls()).not.toContain("delete ipp_1");
  vi.restoreAllMocks();
  scene.gateway.seed(TCPEdge.resource, restriction("ipp_1"));
  await scene.clock.advance(1000);
  await scene.reconcile(policy);
  expect(scene.reason(policy)).toMatch(/^InUse: /);
});

it("no DELETE is sent of a used remote that a list has left out", async () => {
  const policy = await scene.given(IPPolicy, "office");
  const id = scene.idOf(policy);
  const [remote] = policies();
  if (!remote) throw new TypeError("no policy");
  scene.gateway.seed(TCPEdge.resource, restriction(id));
  scene.gateway.drop(IPPolicy.resource, id);
  await scene.resync(IPPolicy);
  scene.gateway.put(IPPolicy.resource, remote);
  await scene.delete(policy);
  expect(scene.reason(policy)).toMatch(/^InUse: Ask who runs TCP edge/);
  expect(policies()).toHaveLength(1);
});

it("no DELETE is sent while a list of what may use the remote fails", async () => {
  const group = await scene.given(TunnelGroupBackend, "web");
  scene.gateway.refuse("list", 503);
  await scene.delete(group);
  expect(scene.reason(group)).toMatch(/^ServiceUnavailable: /);
  expect(scene.gateway.remotesOf(TunnelGroupBackend.resource)).toHaveLength(1);
});

it("kinds that cannot be seen are named together, and the right that is missing decides what to do", async () => {
  const policy = await scene.given(IPPolicy, "office");
  const { id } = scene.gateway.seed(TCPEdge.resource, {});
  scene.gateway.unreadable.add(id);
  scene.gateway.beforeCall = ({ verb, resource }) => {
    if (verb !== "list" || resource !== TLSEdge.resource.name) return;
    throw new GatewayError({ kind: "refused", status: 403, method: "?", route: "/", problem: "planned" });
  };
  await scene.delete(policy);
  expect(scene.reason(policy)).toMatch(/^Forbidden: Allow the API key to read TCP edges and TLS edges: /);
  expect(policies()).toHaveLength(1);
});

describe("an edge with several objects", () => {
  const observing = { managementPolicy: "ObserveOnly" } as const;
  let policy: ManagedObject;

  beforeEach(async () => {
    policy = await scene.given(IPPolicy, "office");
  });

  it("is named by the object that only observes it, if there is no other", async () => {
    const { id } = scene.gateway.seed(TCPEdge.resource, restriction(scene.idOf(policy)));
    await scene.given(TCPEdge, "watcher", { ...observing, adopt: { id } });
    await scene.delete(policy);
    expect(scene.reason(policy)).toMatch(/^InUse: Delete or change TCPEdge "watcher" first/);
  });

  it("ends with the one that manages it, though another observes it", async () => {
    const edge = await scene.given(TCPEdge, "db");
    await scene.given(TCPEdge, "watcher", { ...observing, adopt: { id: scene.idOf(edge) } });
    scene.gateway.change(TCPEdge.resource, scene.idOf(edge), restriction(scene.idOf(policy)));
    scene.gateway.refuse("delete", 503);
    await scene.delete(edge);
    await scene.delete(policy);
    expect(scene.reason(policy)).toMatch(/^Deleting: Waiting for TCPEdge "db" to be deleted first/);
  });
});

describe("what objects leave on one route", () => {
  const saml = { enabled: true, idpMetadata: "<EntityDescriptor/>" };
  const webhookVerification = { enabled: true, provider: "sns" };
  const { resource } = HTTPSEdgeRoute;
  let routeId: string;

  beforeEach(() => {
    routeId = scene.gateway.seed(resource, {}).id;
  });

  const specOf = (modules: object) => ({ edgeId: "edghts_1", routeId, ...modules });

  it("is nothing when all of them are deleted together", async () => {
    const object = await scene.given(HTTPSEdgeRoute, "route", specOf({ saml }));
    const next = scene.cluster.apply(HTTPSEdgeRoute, "next", specOf({ saml }), { finalizers: [FINALIZER] });
    for (const one of [object, next]) scene.cluster.delete(one);
    for (const one of [object, next]) await scene.settle(one);
    expect([object, next].filter((one) => scene.cluster.exists(one))).toEqual([]);
    expect(scene.gateway.remote(resource, routeId)).toMatchObject({ saml: null });
  });

  it("is no module whose PUT was carried out and not answered, when the same process deletes the object", async () => {
    const object = await scene.given(HTTPSEdgeRoute, "route", specOf({ saml }));
    scene.gateway.loseAnswer("putModule");
    await scene.apply(HTTPSEdgeRoute, "route", specOf({ saml, webhookVerification }));
    expect(scene.gateway.remote(resource, routeId)).toMatchObject({ webhook_verification: { enabled: true } });
    await scene.deleteAndSettle(object);
    expect(scene.cluster.exists(object)).toBe(false);
    expect(scene.gateway.remote(resource, routeId)).toMatchObject({ saml: null, webhook_verification: null });
  });
});

describe("a replaced certificate", () => {
  let object: ManagedObject;

  beforeEach(async () => {
    scene = new Scene({ extraKinds: [TLSCertificate] });
    scene.cluster.setSecret("tls", keyPair("first"));
    object = await scene.given(TLSCertificate, "web", { secretName: "tls" });
    scene.cluster.setSecret("tls", keyPair("second"));
    await scene.reconcile(object);
    expect(scene.cluster.now(object).status).toMatchObject({ id: "cert_2", retiring: ["cert_1"] });
  });

  it("is deleted soon after an outage", async () => {
    scene.gateway.refuse("delete", 503);
    await scene.reconcile(object);
    expect(scene.cluster.now(object).status).toMatchObject({ retiring: ["cert_1"] });
    await scene.clock.advance(5000);
    await scene.reconcile(object);
    expect(scene.gateway.remotesOf(TLSCertificate.resource)).toMatchObject([{ id: "cert_2" }]);
  });

  it.each([400, 409, 422])("is not tried again at once when the service calls it in use by a %i", async (status) => {
    scene.gateway.refuse("delete", status);
    await scene.reconcile(object);
    expect(scene.reason(object)).toMatch(/^Available/);
    scene.gateway.takeCalls();
    await scene.clock.advance(299_000);
    await scene.reconcile(object);
    expect(scene.gateway.takeCalls()).not.toContain("delete cert_1");
    await scene.clock.advance(1000);
    await scene.reconcile(object);
    expect(scene.gateway.takeCalls()).toContain("delete cert_1");
  });
});
