import { beforeEach, describe, expect, it, vi } from "vitest";
import { RESYNC_SECONDS, Scene } from "../../../test/fakes/reconcile/scene.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import { ReservedDomain } from "../../kinds/reserved-domain.ts";
import { intentOf } from "../../objects/intent.ts";
import { Outdated, Retry } from "../../objects/reconcile-error.ts";
import type { ReconcileContext } from "../context.ts";
import { reconcile } from "../reconcile.ts";

// Before an object gets its first remote, it is asked whether a GatewayAccount exists that no watch has told of yet.

const DOMAIN = { domain: "a.example.com" };

let scene: Scene;
let asked: number;

beforeEach(() => {
  scene = new Scene();
  asked = 0;
  scene.cluster.accounts.ensureDefaultKnown = async () => {
    asked += 1;
  };
});

/** Reconciles an object that turns out to belong to another account once it is asked. */
function reconcileMoved(given: ReconcileContext) {
  let moved = false;
  scene.cluster.accounts.ensureDefaultKnown = async () => {
    // the answer comes when the intent is under way already
    await Promise.resolve();
    moved = true;
  };
  const { account } = scene;
  const context = Object.defineProperty({ ...given }, "account", {
    get() {
      if (moved) throw new Outdated("the object has come to belong to another account");
      return account;
    },
  });
  return reconcile(context, { resyncSeconds: RESYNC_SECONDS, secretsWatched: false });
}

const changes = () => scene.gateway.takeCalls().filter((call) => !/^(list|get)/.test(call));

describe("an object that belongs to a GatewayAccount which is known only now", () => {
  it("creates nothing in the account that it seemed to belong to, and does not search there for what was not sent", async () => {
    const object = scene.cluster.apply(IPPolicy, "office");
    expect(await reconcileMoved(scene.contextFor(object))).toEqual({ stale: true });
    expect(changes()).toEqual([]);
    const { create = "" } = intentOf(scene.cluster.now(object)) ?? {};
    expect(scene.memory.of(object).isCreateFutile(create)).toBe(true);
    await scene.reconcile(object);
    expect(changes().map((call) => call.split(" ")[0])).toEqual(["create"]);
  });

  it.each([
    ["takes nothing over there", { adopt: { existing: true } as const }],
    ["observes nothing there", { managementPolicy: "ObserveOnly" } as const],
  ])("%s", async (_, spec) => {
    scene.gateway.put(ReservedDomain.resource, { id: "rd_1", ...DOMAIN, created_at: "2026-01-01T00:00:00Z" });
    const object = scene.cluster.apply(ReservedDomain, "a", { ...DOMAIN, ...spec });
    expect(await reconcileMoved(scene.contextFor(object))).toEqual({ stale: true });
    expect(changes()).toEqual([]);
    expect(scene.cluster.writes).toEqual([]);
  });
});

it("an object waits while that cannot be told", async () => {
  scene.cluster.accounts.ensureDefaultKnown = async () => {
    throw new Retry("Pending", "Waiting for the Kubernetes API: no answer");
  };
  const object = await scene.apply(IPPolicy, "office");
  expect(changes()).toEqual([]);
  expect(scene.reason(object)).toBe("Pending: Waiting for the Kubernetes API: no answer");
});

it("the question and the intent do not wait for each other", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  scene.cluster.accounts.ensureDefaultKnown = () => promise;
  const object = scene.cluster.apply(IPPolicy, "office");
  const reconciled = scene.reconcile(object);
  await vi.waitFor(() => expect(intentOf(scene.cluster.now(object))).toBeDefined());
  expect(changes()).toEqual([]);
  resolve();
  await reconciled;
  expect(changes()).toHaveLength(1);
});

it("nothing is sent when the intent cannot be recorded, whatever the question is answered with", async () => {
  scene.cluster.accounts.ensureDefaultKnown = async () => {
    throw new Retry("Pending", "Waiting for the Kubernetes API: no answer");
  };
  scene.cluster.annotate = async () => {
    throw new Retry("Pending", "The intent was not recorded");
  };
  const object = await scene.apply(IPPolicy, "office");
  expect(changes()).toEqual([]);
  expect(scene.reason(object)).toBe("Pending: The intent was not recorded");
});

it("is asked once in the life of an object, right before its create", async () => {
  const object = await scene.given(IPPolicy, "office");
  expect(asked).toBe(1);
  await scene.apply(IPPolicy, "office", { description: "edited" });
  scene.restart();
  await scene.reconcile(object);
  expect(asked).toBe(1);
});
