import { beforeEach, describe, expect, it } from "vitest";
import { RESYNC_SECONDS, Scene } from "../../test/fakes/reconcile/scene.ts";
import { EventDestination } from "../kinds/event-destination.ts";
import { HTTPSEdgeRoute } from "../kinds/https-edge-route.ts";
import { IPPolicy } from "../kinds/ip-policy.ts";
import type { ManagedObject } from "../objects/object.ts";
import { Outdated, Retry } from "../objects/reconcile-error.ts";
import { annotations } from "../schema/contract.ts";

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});

const bodies = () => scene.gateway.calls.filter(({ verb }) => verb === "update").map(({ body }) => body);

describe("a value from a Secret", () => {
  const spec = { format: "json", target: { monitoring: { apiKeyRef: { name: "dd", key: "api" } } } };

  beforeEach(() => scene.cluster.setSecret("dd", { api: "initial" }));

  it("is read at each reconcile, and again at the next resync", async () => {
    const object = scene.cluster.apply(EventDestination, "dd", spec);
    expect(await scene.reconcile(object)).toEqual({ requeueAfterSeconds: 300 });
    expect(scene.gateway.calls[0]?.body).toMatchObject({ target: { monitoring: { api_key: "initial" } } });
  });

  it("is sent again only when it has changed", async () => {
    const object = await scene.given(EventDestination, "dd", spec);
    await scene.reconcile(object);
    expect(scene.gateway.takeCalls()).toEqual([]);
    scene.cluster.setSecret("dd", { api: "second" });
    await scene.reconcile(object);
    expect(bodies()).toMatchObject([{ target: { monitoring: { api_key: "second" } } }]);
    expect(scene.cluster.events).toEqual([]);
    scene.gateway.takeCalls();
    await scene.reconcile(object);
    expect(scene.gateway.takeCalls()).toEqual([]);
  });

  it("is read again at the next resync when the service refuses the new one", async () => {
    const object = await scene.given(EventDestination, "dd", spec);
    await scene.confirmLack(EventDestination.resource, "update");
    scene.cluster.setSecret("dd", { api: "second" });
    expect(await scene.reconcile(object)).toEqual({ requeueAfterSeconds: RESYNC_SECONDS });
    expect(scene.reason(object)).toMatch(/^ReplacementRequired: /);
  });

  it("appears in no status, event or message", async () => {
    const object = scene.cluster.apply(EventDestination, "dd", spec);
    scene.gateway.refuse("create", 400, { serviceMessage: "bad key" });
    await scene.reconcile(object);
    await scene.settle(object);
    expect(JSON.stringify([scene.cluster.now(object), scene.cluster.events])).not.toContain("initial");
  });

  it("is waited for when it is missing", async () => {
    const object = scene.cluster.apply(EventDestination, "dd", {
      target: { monitoring: { apiKeyRef: { name: "other", key: "api" } } },
    });
    expect(await scene.reconcile(object)).toMatchObject({ requeueAfterSeconds: expect.any(Number) });
    expect(scene.reason(object)).toMatch(/^SecretNotReady: Create Secret "other"/);
    expect(scene.gateway.takeCalls()).toEqual([]);
    scene.cluster.setSecret("other", { api: "third" });
    await scene.reconcile(object);
    expect(scene.condition(object, "Ready")?.status).toBe("True");
  });

  it("is polled less and less often when it is missing, or at each resync when Secrets are watched", async () => {
    const twoResults = async ({ secretsWatched }: { secretsWatched: boolean }) => {
      const some = new Scene({ secretsWatched });
      const object = some.cluster.apply(EventDestination, "dd", spec);
      const first = await some.reconcile(object);
      await some.clock.advance(3_600_000);
      return [first, await some.reconcile(object)];
    };
    expect(await twoResults({ secretsWatched: false })).toEqual([
      { requeueAfterSeconds: 1 },
      { requeueAfterSeconds: 30 },
    ]);
    const resync = { requeueAfterSeconds: RESYNC_SECONDS };
    expect(await twoResults({ secretsWatched: true })).toEqual([resync, resync]);
  });

  it("keeps a ready object Ready when it cannot be read, and Synced reports that", async () => {
    const object = await scene.given(EventDestination, "dd", spec);
    scene.cluster.setSecret("dd", {});
    await scene.reconcile(object);
    expect(scene.condition(object, "Ready")?.status).toBe("True");
    expect(scene.condition(object, "Synced")).toMatchObject({ status: "False", reason: "SecretNotReady" });
    scene.cluster.setSecret("dd", { api: "back" });
    await scene.reconcile(object);
    expect(scene.condition(object, "Synced")?.status).toBe("True");
  });
});

describe("a paused object", () => {
  it("is not updated until it is resumed", async () => {
    const object = await scene.given(IPPolicy, "office", { description: "a" });
    scene.cluster.annotateByHand(object, annotations.paused, "true");
    scene.cluster.apply(IPPolicy, "office", { description: "b" });
    expect(await scene.reconcile(object)).toEqual({});
    expect(scene.gateway.takeCalls()).toEqual([]);
    expect(scene.condition(object, "Paused")?.status).toBe("True");
    expect(scene.condition(object, "Ready")?.status).toBe("True");
    scene.cluster.annotateByHand(object, annotations.paused, "false");
    await scene.reconcile(object);
    expect(scene.gateway.remotesOf(IPPolicy.resource)).toMatchObject([{ description: "b" }]);
    expect(scene.condition(object, "Paused")).toBeUndefined();
  });
});

describe("a status that cannot be written", () => {
  it("returns the error, with a backoff", async () => {
    const object = scene.cluster.apply(IPPolicy, "office");
    const refusal = new Retry("Pending", "Correct spec.description");
    scene.cluster.beforeWrite = (write) => {
      if (write === "writeStatus") throw refusal;
    };
    expect(await scene.reconcile(object)).toEqual({ backoff: true, error: refusal });
  });

  it("is written at the next reconcile when the object has changed meanwhile", async () => {
    const object = scene.cluster.apply(IPPolicy, "office");
    scene.cluster.beforeWrite = (write) => {
      if (write === "writeStatus") throw new Outdated("the object has changed");
    };
    expect(await scene.reconcile(object)).toEqual({ stale: true });
    scene.cluster.beforeWrite = () => {};
    await scene.reconcile(object);
    expect(scene.condition(object, "Ready")?.status).toBe("True");
    expect(scene.gateway.remotesOf(IPPolicy.resource)).toHaveLength(1);
  });
});

describe("an outage", () => {
  it("keeps a settled object ready", async () => {
    const object = await scene.given(IPPolicy, "office");
    scene.restart();
    scene.gateway.refuse("list", 503);
    expect(await scene.reconcile(object)).toEqual({
      requeueAfterSeconds: expect.toSatisfy((seconds: number) => seconds <= 1.2),
    });
    expect(scene.condition(object, "Ready")?.status).toBe("True");
    expect(scene.condition(object, "Synced")).toMatchObject({ status: "False", reason: "ServiceUnavailable" });
    await scene.reconcile(object);
    expect(scene.condition(object, "Synced")?.status).toBe("True");
  });
});

describe("an object that is deleted while it gets its finalizer", () => {
  const endBefore = (write: string, object: ManagedObject) => {
    scene.cluster.beforeWrite = (now) => {
      if (now === write) scene.cluster.vanish(object);
    };
  };

  it("is recorded, with the id of its new remote", async () => {
    const object = scene.cluster.apply(IPPolicy, "office");
    endBefore("writeStatus", object);
    await scene.reconcile(object);
    const [remote] = scene.gateway.remotesOf(IPPolicy.resource);
    expect(scene.cluster.unfinalized).toMatchObject([{ metadata: { name: "office" }, status: { id: remote?.id } }]);
  });

  it("is recorded when the answer to the create was lost", async () => {
    const object = scene.cluster.apply(IPPolicy, "office");
    scene.gateway.loseAnswer("create");
    endBefore("writeStatus", object);
    await scene.reconcile(object);
    expect(scene.cluster.unfinalized).toMatchObject([{ metadata: { name: "office" } }]);
  });

  it("is not recorded when no request was sent", async () => {
    const object = scene.cluster.apply(EventDestination, "dd", {
      target: { monitoring: { apiKeyRef: { name: "missing", key: "api" } } },
    });
    endBefore("writeStatus", object);
    await scene.reconcile(object);
    expect(scene.cluster.unfinalized).toEqual([]);
  });

  it("gets no modules", async () => {
    const route = scene.gateway.seed(HTTPSEdgeRoute.resource, { edge_id: "edghts_1" });
    const spec = { edgeId: "edghts_1", routeId: route.id, webhookVerification: { provider: "sns" } };
    const object = scene.cluster.apply(HTTPSEdgeRoute, "route", spec);
    endBefore("writeStatus", object);
    await scene.reconcile(object);
    expect(scene.gateway.calls.map(({ verb }) => verb)).toEqual(["getModule"]);
  });
});
