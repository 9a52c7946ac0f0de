import { beforeEach, describe, expect, it } from "vitest";
import { DEADLINE_MS, Scene } from "../../../test/fakes/reconcile/scene.ts";
import { EventSource } from "../../kinds/event-source.ts";
import { EventSubscription } from "../../kinds/event-subscription.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import { ReservedDomain } from "../../kinds/reserved-domain.ts";
import { TunnelGroupBackend } from "../../kinds/tunnel-group-backend.ts";
import { intentOf } from "../../objects/intent.ts";

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});

/** One kind for each way to find its remote again. */
const recoveries = [
  { how: "by its owner mark", kind: TunnelGroupBackend, spec: { labels: { app: "db" } } },
  { how: "by its natural key", kind: ReservedDomain, spec: { domain: "a.example.com", metadata: "opaque" } },
  { how: "by all it was made of", kind: TunnelGroupBackend, spec: { labels: { app: "db" }, metadata: "opaque" } },
];

describe("a create whose outcome is unknown when the spec comes to name another account", () => {
  beforeEach(() => {
    scene.accountName = "first";
  });

  it("is found as an entry of a list", async () => {
    const audit = await scene.given(EventSubscription, "audit");
    const spec = { subscriptionRef: { id: scene.idOf(audit) }, type: "a.v0" };
    scene.gateway.loseAnswer("createSource");
    const object = await scene.apply(EventSource, "one", spec);
    scene.specifiedAccountName = "second";
    await scene.clock.advance(2 * DEADLINE_MS);
    await scene.reconcile(object);
    expect(scene.cluster.now(object).status).toMatchObject({ id: `${scene.idOf(audit)}/a.v0`, account: "first" });
  });

  it("is given up as an entry of a list only once it is certain that it made nothing", async () => {
    const audit = await scene.given(EventSubscription, "audit");
    scene.gateway.swallow("createSource");
    const object = await scene.apply(EventSource, "one", { subscriptionRef: { name: "audit" }, type: "a.v0" });
    const { create = "" } = intentOf(scene.cluster.now(object)) ?? {};
    scene.specifiedAccountName = "second";
    await scene.reconcile(object);
    expect(scene.reason(object)).toMatch(/^Creating: /);
    await scene.clock.advance(2 * DEADLINE_MS);
    scene.resetCounts();
    expect(await scene.reconcile(object)).toEqual({ stale: true });
    expect(scene.memory.of(object).isCreateFutile(create)).toBe(true);
    expect(scene.cluster.writes).toEqual([]);
    expect(scene.gateway.remote(EventSubscription.resource, scene.idOf(audit))?.["sources"]).toBeNull();
  });

  it.each(recoveries)(
    "is found $how in the account to which it was sent, and not changed any more",
    async ({ kind, spec }) => {
      scene.gateway.loseAnswer("create");
      const object = await scene.apply(kind, "one", spec);
      scene.specifiedAccountName = "second";
      scene.cluster.apply(kind, "one", { ...spec, description: "edited" });
      scene.gateway.takeCalls();
      await scene.reconcile(object);
      const [remote] = scene.gateway.remotesOf(kind.resource);
      expect(scene.cluster.now(object).status).toMatchObject({ id: remote?.id, account: "first" });
      expect(scene.gateway.takeCalls()).toEqual(["list"]);
    },
  );

  it.each(recoveries)("is given up only once it is certain that it made nothing ($how)", async ({ kind, spec }) => {
    scene.gateway.swallow("create");
    const object = await scene.apply(kind, "one", spec);
    const { create = "", account } = intentOf(scene.cluster.now(object)) ?? {};
    expect(account).toBe("first");
    scene.specifiedAccountName = "second";
    await scene.reconcile(object);
    expect(scene.reason(object)).toMatch(/^Creating: /);
    expect(scene.memory.of(object).isCreateFutile(create)).toBe(false);
    await scene.clock.advance(2 * DEADLINE_MS);
    scene.resetCounts();
    expect(await scene.reconcile(object)).toEqual({ stale: true });
    // the status must not say that the remote was created
    expect(scene.cluster.writes).toEqual([]);
    expect(scene.memory.of(object).isCreateFutile(create)).toBe(true);
    expect(scene.gateway.remotesOf(kind.resource)).toEqual([]);
  });
});

it("an object with an id has no such create, when its spec comes to name another account", async () => {
  scene.accountName = "first";
  const object = await scene.given(IPPolicy, "office", { description: "the office" });
  scene.specifiedAccountName = "second";
  expect(await scene.reconcile(object)).toEqual({});
  expect(scene.gateway.takeCalls()).toEqual([]);
});

it("an object that has never sent a create gets nothing in an account that its spec no longer names", async () => {
  scene.accountName = "first";
  scene.specifiedAccountName = "second";
  const object = scene.cluster.apply(IPPolicy, "office");
  expect(await scene.reconcile(object)).toEqual({ stale: true });
  expect(scene.gateway.takeCalls()).toEqual([]);
  expect(scene.cluster.writes).toEqual([]);
});
