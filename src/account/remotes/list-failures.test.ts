import { beforeEach, describe, expect, it } from "vitest";
import { RESYNC_SECONDS, Scene } from "../../../test/fakes/reconcile/scene.ts";
import { GatewayError } from "../../gateway/errors.ts";
import { ipPolicies, reservedDomains } from "../../gateway/resources/index.ts";
import { EventSubscription } from "../../kinds/event-subscription.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import type { ManagedObject } from "../../objects/object.ts";

let scene: Scene;
let object: ManagedObject;

beforeEach(async () => {
  scene = new Scene();
  object = await scene.given(IPPolicy, "office", {});
});

/** The next list, an interval later. It fails with this status. */
async function resync(status?: number): Promise<void> {
  await scene.clock.advance(RESYNC_SECONDS * 1000);
  if (status !== undefined) scene.gateway.refuse("list", status);
  const listed = scene.account.collection(ipPolicies).listed(scene.clock.now(), { lane: "sync" });
  await (status === undefined ? listed : expect(listed).rejects.toThrow());
}

const synced = () => scene.condition(object, "Synced");

describe("a list that fails", () => {
  it("once is told by nobody", async () => {
    await resync(503);
    expect(scene.account.listFailures.problem).toBeUndefined();
    await scene.reconcile(object);
    expect(synced()?.status).toBe("True");
  });

  it("for longer than an interval is told by each object that it shows, with one write, however long it fails", async () => {
    await resync(503);
    await resync(503);
    await scene.reconcile(object);
    expect(synced()).toMatchObject({ status: "False", reason: "ServiceUnavailable" });
    expect(synced()?.message).toMatch(/^Changes in the account are not seen since 2026-01-01T00:05:00Z: Waiting /);
    expect(scene.condition(object, "Ready")?.status).toBe("True");
    scene.cluster.writes.length = 0;
    for (const status of [502, 500, 403, 429]) {
      await resync(status);
      await scene.reconcile(object);
    }
    expect(scene.cluster.writes).toEqual([]);
    await resync();
    await scene.reconcile(object);
    expect(synced()).toMatchObject({ status: "True", reason: "Available" });
    expect(scene.cluster.writes).toEqual(["writeStatus"]);
  });

  it("is not told by objects that it does not show", async () => {
    const other = await scene.given(EventSubscription, "all", { sources: [], destinationIds: ["ed_1"] });
    await resync(503);
    await resync(503);
    await scene.reconcile(other);
    expect(scene.condition(other, "Synced")?.status).toBe("True");
    expect(scene.account.listFailures.problemOf(reservedDomains)).toBeUndefined();
  });

  it("since it is too large is told in these words", async () => {
    const problem = "200 OK, but no complete answer came: the answer is longer than 33554432 bytes";
    const failing = new GatewayError({
      kind: "unreadable",
      method: "GET",
      route: "/ip_policies",
      status: 200,
      problem,
    });
    for (let count = 0; count < 2; count += 1) {
      await scene.clock.advance(RESYNC_SECONDS * 1000);
      scene.gateway.beforeCall = () => {
        throw failing;
      };
      await expect(scene.account.collection(ipPolicies).listed(scene.clock.now(), { lane: "sync" })).rejects.toThrow();
    }
    await scene.reconcile(object);
    expect(synced()?.message).toContain("longer than 33554432 bytes");
  });
});

it("a fault of the program in a list is told by the objects that wait for it, and by the account", async () => {
  scene.restart();
  scene.gateway.beforeCall = () => {
    throw new RangeError("Maximum call stack size exceeded");
  };
  await scene.reconcile(object).catch(() => undefined);
  expect(synced()).toMatchObject({ status: "False", reason: "UnexpectedResponse" });
  expect(synced()?.message).toMatch(/^Report this fault .*RangeError/);
  for (let count = 0; count < 2; count += 1) {
    await scene.clock.advance(RESYNC_SECONDS * 1000);
    await expect(scene.account.collection(ipPolicies).listed(scene.clock.now(), { lane: "sync" })).rejects.toThrow();
  }
  expect(scene.account.listFailures.problem?.message).toMatch(/RangeError/);
});
