import { beforeEach, describe, expect, it } from "vitest";
import { ownerIn } from "../../../test/fakes/reconcile/owner-in.ts";
import { Scene } from "../../../test/fakes/reconcile/scene.ts";
import { EventSource } from "../../kinds/event-source.ts";
import { EventSubscription } from "../../kinds/event-subscription.ts";
import { HTTPSEdgeRoute } from "../../kinds/https-edge-route.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import { ReservedDomain } from "../../kinds/reserved-domain.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { annotations, FINALIZER } from "../../schema/contract.ts";

// Observing holds nothing, and its status has the id of a remote all the same.

/** No mark can be added to it. */
const opaque = "of somebody else";
const observed = { managementPolicy: "ObserveOnly" } as const;
const domain = "a.example.com";

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});

const changes = () => scene.gateway.takeCalls().filter((call) => !/^(get|list)/.test(call));

async function becomesFull(object: ManagedObject, spec: ManagedObject["spec"]): Promise<void> {
  const kind = scene.contextFor(object).kind;
  const { name, namespace } = object.metadata;
  scene.cluster.apply(kind, name, spec, { namespace });
  scene.gateway.takeCalls();
  await scene.settle(object, 3);
}

describe.each([
  ["that is known by its id", IPPolicy, (id: string) => ({ adopt: { id } })],
  ["that is known by its name", ReservedDomain, () => ({ domain, adopt: { existing: true as const } })],
])("a remote %s, in a namespace without the right to adopt", (_, kind, specOf) => {
  let id: string;
  let object: ManagedObject;

  beforeEach(async () => {
    scene.mayAdopt = false;
    ({ id } = scene.gateway.seed(kind.resource, { domain, metadata: opaque }));
    object = await scene.apply(kind, "one", { ...specOf(id), ...observed });
    expect(scene.idOf(object)).toBe(id);
  });

  it("is not adopted by the object that has observed it", async () => {
    await becomesFull(object, { ...specOf(id), description: "ours", deletionPolicy: "Delete" });
    expect(scene.reason(object)).toMatch(new RegExp(`^AdoptionNotAllowed: .* ${id}$`));
    expect(changes()).toEqual([]);
    scene.mayAdopt = true;
    await scene.settle(object, 3);
    expect(scene.reason(object)).toMatch(/^Available/);
    expect(scene.gateway.remote(kind.resource, id)?.["description"]).toBe("ours");
    expect(scene.cluster.now(object).status?.origin).toBe("Adopted");
  });

  it("stays when a person gives that object the finalizer, and deletes it before its next reconcile", async () => {
    const spec = { ...specOf(id), deletionPolicy: "Delete" as const };
    scene.cluster.apply(kind, "one", spec, { finalizers: [FINALIZER] });
    scene.cluster.delete(object);
    scene.gateway.takeCalls();
    await scene.settle(object);
    expect(scene.cluster.exists(object)).toBe(false);
    expect(changes()).toEqual([]);
  });

  it("is not handed over by the object that observes it", async () => {
    scene.cluster.annotateByHand(object, annotations.releaseTo, "team-b/two");
    const adopt = { id, from: "team-a/one" };
    const other = scene.cluster.apply(kind, "two", { domain, adopt }, { namespace: "team-b" });
    for (const one of [object, other, object, other]) await scene.reconcile(one);
    expect(scene.reason(other)).toMatch(/^AdoptionNotAllowed/);
    expect(changes()).toEqual([]);
  });
});

it("a domain is not adopted when its object no longer only observes, and its spec does not ask to adopt", async () => {
  const { id } = scene.gateway.seed(ReservedDomain.resource, { domain });
  const object = await scene.apply(ReservedDomain, "one", { domain, ...observed });
  await becomesFull(object, { domain, description: "ours" });
  expect(scene.reason(object)).toBe(`AlreadyExists: To take over ${id}, add to the spec: adopt: {id: ${id}}`);
  expect(scene.gateway.remote(ReservedDomain.resource, id)).toMatchObject({ description: null, metadata: null });
  await becomesFull(object, { domain, description: "ours", adopt: { id } });
  expect(scene.reason(object)).toMatch(/^Available/);
});

it("an entry in a subscription of others is not created again by an object that has observed it", async () => {
  scene.mayAdopt = false;
  const type = "a_created.v0";
  const { id } = scene.gateway.seed(EventSubscription.resource, { sources: [{ type }] });
  const spec = { subscriptionRef: { id }, type };
  const object = await scene.apply(EventSource, "one", { ...spec, ...observed });
  expect(scene.reason(object)).toMatch(/^Available/);
  scene.gateway.change(EventSubscription.resource, id, { sources: [] });
  await scene.resync(EventSubscription);
  await becomesFull(object, spec);
  expect(scene.reason(object)).toMatch(new RegExp(`^AdoptionNotAllowed: .* ${id}$`));
  expect(changes()).toEqual([]);
});

describe("an entry of others, which an object has come to observe that had one of its own", () => {
  const namespace = "team-b";
  const type = "x.v0";
  const spec = { subscriptionRef: { name: "audit" }, type };
  const types = (of: string) =>
    ((scene.gateway.remote(EventSubscription.resource, of)?.["sources"] ?? []) as { type: string }[]).map(
      (one) => one.type,
    );
  let id: string;
  let object: ManagedObject;

  beforeEach(async () => {
    scene.mayAdopt = false;
    id = scene.gateway.seed(EventSubscription.resource, { sources: [{ type }] }).id;
    const own = await scene.apply(EventSubscription, "audit", {}, { namespace });
    object = await scene.apply(EventSource, "one", spec, { namespace });
    expect(scene.reason(object)).toMatch(/^Available/);
    scene.cluster.vanish(own);
    await scene.apply(EventSubscription, "audit", { adopt: { id }, ...observed }, { namespace });
    await becomesFull(object, { ...spec, ...observed });
    expect([scene.idOf(object), scene.reason(object)]).toEqual([`${id}/${type}`, expect.stringMatching(/^Available/)]);
    scene.cluster.apply(EventSource, "one", spec, { namespace });
  });

  it("is not taken by it", async () => {
    await scene.settle(object, 3);
    expect(scene.reason(object)).toMatch(new RegExp(`^AdoptionNotAllowed: .* ${id}$`));
    await scene.deleteAndSettle(object);
    expect([scene.cluster.exists(object), types(id)]).toEqual([false, [type]]);
  });

  it("stays when the object is deleted before it is looked at again", async () => {
    await scene.deleteAndSettle(object);
    expect([scene.cluster.exists(object), types(id)]).toEqual([false, [type]]);
  });

  it("counts as adopted when the object may take it", async () => {
    scene.mayAdopt = true;
    await scene.settle(object, 3);
    expect([scene.reason(object), scene.cluster.now(object).status?.origin]).toEqual([
      expect.stringMatching(/^Available/),
      "Adopted",
    ]);
    await scene.deleteAndSettle(object);
    expect([scene.cluster.exists(object), types(id)]).toEqual([false, [type]]);
  });
});

it("an object that has only observed a subscription gives no right to its entries", async () => {
  scene.mayAdopt = false;
  const { id } = scene.gateway.seed(EventSubscription.resource, { sources: [] });
  const watcher = await scene.apply(EventSubscription, "watcher", { adopt: { id }, ...observed });
  await becomesFull(watcher, { adopt: { id } });
  const object = await scene.apply(EventSource, "one", { subscriptionRef: { id }, type: "a_created.v0" });
  expect(scene.reason(object)).toMatch(/^AdoptionNotAllowed/);
});

describe("a remote without a mark that an older object observes", () => {
  let id: string;
  let watcher: ManagedObject;
  let holder: ManagedObject;
  const spec = (description: string) => ({ adopt: { id }, description, metadata: opaque });

  beforeEach(async () => {
    ({ id } = scene.gateway.seed(IPPolicy.resource, { metadata: opaque }));
    watcher = await scene.apply(IPPolicy, "watcher", { adopt: { id }, ...observed });
    await scene.clock.advance(5_000);
    holder = await scene.given(IPPolicy, "holder", spec("held"));
  });

  it("stays with its holder when the older one no longer only observes", async () => {
    await becomesFull(watcher, spec("watched"));
    expect(scene.reason(watcher)).toMatch(/^OwnershipConflict: .* team-a\/holder, which has /);
    await scene.reconcile(holder);
    expect(scene.reason(holder)).toMatch(/^Available/);
    expect(scene.gateway.remote(IPPolicy.resource, id)?.["description"]).toBe("held");
  });

  it("is taken by the older one when the holder starts to observe only", async () => {
    await becomesFull(watcher, spec("watched"));
    await scene.apply(IPPolicy, "holder", { ...spec("held"), ...observed });
    await scene.reconcile(watcher);
    expect(scene.reason(watcher)).toMatch(/^Available/);
    await becomesFull(holder, spec("held"));
    expect(scene.reason(holder)).toMatch(/^OwnershipConflict: .* team-a\/watcher, which has /);
  });
});

it("a holder that has observed for a while continues without the right to adopt, and keeps its origin", async () => {
  const object = await scene.given(IPPolicy, "own", { metadata: opaque });
  await scene.apply(IPPolicy, "own", { metadata: opaque, ...observed });
  scene.mayAdopt = false;
  await becomesFull(object, { metadata: opaque, description: "on" });
  expect(scene.reason(object)).toMatch(/^Available/);
  expect(scene.cluster.now(object).status).toMatchObject({ origin: "Created" });
  await scene.deleteAndSettle(object);
  expect(scene.gateway.remotesOf(IPPolicy.resource)).toEqual([]);
});

it("the modules of a route stay with the object that set them while the previous holder observed", async () => {
  const routeId = scene.gateway.seed(HTTPSEdgeRoute.resource, {}).id;
  const spec = (provider: string) => ({
    edgeId: "edghts_1",
    routeId,
    webhookVerification: { enabled: true, provider },
  });
  const first = await scene.given(HTTPSEdgeRoute, "first", spec("sns"));
  await scene.clock.advance(5_000);
  await scene.apply(HTTPSEdgeRoute, "first", { ...spec("sns"), ...observed });
  await scene.given(HTTPSEdgeRoute, "second", spec("github"));
  await becomesFull(first, spec("sns"));
  expect(scene.reason(first)).toMatch(/^OwnershipConflict: .* team-a\/second, which has /);
});

it("a remote that another object has taken is not taken back when the release is withdrawn", async () => {
  const first = await scene.given(IPPolicy, "first", { metadata: opaque });
  const id = scene.idOf(first);
  await scene.clock.advance(5_000);
  scene.cluster.annotateByHand(first, annotations.releaseTo, "team-b/second");
  const adopt = { id, from: "team-a/first" };
  const second = scene.cluster.apply(IPPolicy, "second", { metadata: opaque, adopt }, { namespace: "team-b" });
  for (const object of [first, second, first]) await scene.reconcile(object);
  scene.cluster.removeAnnotation(first, annotations.releaseTo);
  await scene.reconcile(first);
  expect(scene.reason(first)).toMatch(/^OwnershipConflict: .* team-b\/second, which has /);
  await scene.deleteAndSettle(second);
  scene.gateway.put(IPPolicy.resource, { id, metadata: opaque });
  await scene.resync(IPPolicy);
  await scene.settle(first, 2);
  expect(scene.reason(first)).toMatch(/^Available/);
});

it("an object that wants a remote and may not adopt blocks no other object", async () => {
  const { id } = scene.gateway.seed(IPPolicy.resource, {});
  scene.cluster.accounts.mayAdopt = ({ metadata }) => metadata.namespace === "team-a";
  const first = await scene.apply(IPPolicy, "first", { adopt: { id } }, { namespace: "team-b" });
  expect(scene.reason(first)).toMatch(/^AdoptionNotAllowed/);
  await scene.clock.advance(5_000);
  const second = await scene.apply(IPPolicy, "second", { adopt: { id } });
  expect(scene.reason(second)).toMatch(/^Available/);
});

it("an object that has observed a remote and may not adopt it does not keep others from adopting it", async () => {
  const { id } = scene.gateway.seed(IPPolicy.resource, {});
  scene.cluster.accounts.mayAdopt = ({ metadata }) => metadata.namespace === "team-b";
  const object = await scene.apply(IPPolicy, "one", { adopt: { id }, ...observed });
  await scene.apply(IPPolicy, "one", { adopt: { id }, deletionPolicy: "Delete" });
  expect(scene.reason(object)).toMatch(/^AdoptionNotAllowed/);
  await scene.clock.advance(1000);
  const other = await scene.apply(IPPolicy, "other", { adopt: { id } }, { namespace: "team-b" });
  expect(scene.reason(other)).toMatch(/^Available/);
});

it("an object that could not adopt what it observed does not keep the owner from finding it again", async () => {
  const owner = await scene.given(IPPolicy, "owner");
  const id = scene.idOf(owner);
  const watcher = await scene.apply(IPPolicy, "watcher", { adopt: { id }, ...observed });
  await becomesFull(watcher, { adopt: { id } });
  expect(scene.reason(watcher)).toMatch(/^OwnershipConflict/);
  scene.cluster.loseStatus(owner);
  scene.restart();
  await scene.settle(owner, 3);
  expect(scene.idOf(owner)).toBe(id);
});

it("the mark of an object counts although the object observes another remote", async () => {
  const { id } = scene.gateway.seed(IPPolicy.resource, {});
  const first = await scene.given(IPPolicy, "first");
  const own = scene.idOf(first);
  scene.cluster.loseStatus(first);
  scene.cluster.removeAnnotation(first, annotations.createIntent);
  await scene.apply(IPPolicy, "first", { adopt: { id }, ...observed });
  const second = await scene.apply(IPPolicy, "second", { adopt: { id: own } });
  expect(scene.reason(second)).toMatch(/^OwnershipConflict: Ask the owner/);
  expect(ownerIn(scene.gateway.remote(IPPolicy.resource, own) ?? {})).toBe("c1/team-a/first");
});

describe("an object that no longer only observes, and begins to take over the remote", () => {
  const begin = async () => {
    const { id } = scene.gateway.seed(IPPolicy.resource, { metadata: opaque });
    const object = await scene.apply(IPPolicy, "one", { adopt: { id }, ...observed });
    scene.cluster.apply(IPPolicy, "one", { adopt: { id }, description: "ours" });
    scene.gateway.takeCalls();
    return { object, id };
  };

  it("begins anew with the spec of an edit that comes in between", async () => {
    const { object, id } = await begin();
    scene.cluster.beforeWrite = () => {
      scene.cluster.beforeWrite = () => {};
      scene.cluster.apply(IPPolicy, "one", { adopt: { id }, description: "ours, edited" });
    };
    expect(await scene.reconcile(object)).toEqual({ stale: true });
    expect(changes()).toEqual([]);
    await scene.reconcile(object);
    expect(scene.gateway.remote(IPPolicy.resource, id)?.["description"]).toBe("ours, edited");
  });

  it("begins anew in the account that its spec names, which may be another one", async () => {
    const { object } = await begin();
    scene.specifiedAccountName = "other";
    expect(await scene.reconcile(object)).toEqual({ stale: true });
    expect(scene.gateway.takeCalls()).toEqual([]);
  });
});
