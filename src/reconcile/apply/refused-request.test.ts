import { beforeEach, describe, expect, it } from "vitest";
import { Scene } from "../../../test/fakes/reconcile/scene.ts";
import { kinds } from "../../kinds/index.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import { ReservedDomain } from "../../kinds/reserved-domain.ts";
import { TLSEdge } from "../../kinds/tls-edge.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { blocksOf } from "../../plan/blocks.ts";
import { planChanges } from "../../plan/planner.ts";
import { annotations } from "../../schema/contract.ts";

let scene: Scene;

const changesSent = () => scene.gateway.takeCalls().filter((call) => /^(create|update|delete)/.test(call));

/** The service answers each change with this status. */
const refusing = (verb: "create" | "update", status: number) => {
  scene.gateway.beforeCall = (call) => {
    if (call.verb === verb) scene.gateway.refuse(verb, status);
  };
};

const accepting = () => {
  scene.gateway.beforeCall = () => {};
};

async function planOf(object: ManagedObject) {
  const planned = await planChanges({
    kinds,
    objects: [scene.cluster.now(object)],
    isInAccount: () => true,
    account: {
      list: async ({ name }) => scene.gateway.remotesOf({ name } as never) as never,
      module: async () => null,
    },
    cluster: { secret: async (_, name) => scene.cluster.secretNow(name), configMap: async () => undefined },
    clusterID: "c1",
    formerClusterIDs: [],
    isClusterIDSet: true,
    accountNameOf: () => "",
    mayAdopt: () => true,
    undocumented: true,
  });
  return [...blocksOf(planned).values()].map(({ action, reason, requests }) => ({ action, reason, requests }));
}

/** The service lacks the update of domains, and has shown it often enough. */
async function givenUnsupportedUpdate(): Promise<ManagedObject> {
  const object = await scene.given(ReservedDomain, "shop", { domain: "shop.example.com", description: "one" });
  refusing("update", 405);
  await scene.apply(ReservedDomain, "shop", { domain: "shop.example.com", description: "two" });
  await scene.clock.advance(300_000);
  await scene.given(IPPolicy, "office", {});
  await scene.clock.advance(700_000);
  await scene.reconcile(object);
  return object;
}

async function givenRefusedUpdate(): Promise<ManagedObject> {
  const object = await scene.given(TLSEdge, "web", { description: "one" });
  refusing("update", 422);
  await scene.apply(TLSEdge, "web", { description: "two" });
  return object;
}

async function givenRefusedCreate(): Promise<ManagedObject> {
  refusing("create", 422);
  return scene.apply(ReservedDomain, "shop", { domain: "shop.example.com" });
}

const cases = [
  { what: "an update that the service does not have", given: givenUnsupportedUpdate, reason: "ReplacementRequired" },
  { what: "an update with a value that the service refuses", given: givenRefusedUpdate, reason: "UpdateUnsupported" },
  { what: "a create that the service refuses", given: givenRefusedCreate, reason: "InvalidSpec" },
] as const;

beforeEach(() => {
  scene = new Scene();
});

/** The create of another process counts as settled after a while. */
async function settleCreate(object: ManagedObject): Promise<void> {
  if (scene.idOf(object)) return;
  await scene.reconcile(object);
  await scene.clock.advance(120_000);
  await scene.reconcile(object);
}

describe.each(cases)("$what", ({ given, reason }) => {
  const last = (object: ManagedObject) => scene.condition(object, "Synced")?.reason;

  it("is no change that a plan shows, for ever", async () => {
    const object = await given();
    expect(last(object)).toBe(reason);
    scene.restart();
    await scene.clock.advance(100 * 3_600_000);
    expect(await planOf(object)).toEqual([{ action: "blocked", reason, requests: [] }]);
  });

  it("is not sent again by the next process until it is due, which writes nothing either", async () => {
    const object = await given();
    scene.restart();
    await settleCreate(object);
    const before = scene.cluster.now(object).status;
    scene.resetCounts();
    scene.gateway.takeCalls();
    await scene.reconcile(object);
    expect(changesSent()).toEqual([]);
    expect(scene.cluster.writes).toEqual([]);
    expect(scene.cluster.now(object).status).toEqual(before);
    await scene.clock.advance(1_800_000);
    await scene.reconcile(object);
    expect(changesSent()).toHaveLength(1);
    const { retryAt = "" } = scene.cluster.now(object).status?.refusedRequest ?? {};
    expect(Date.parse(retryAt) - scene.clock.date().getTime()).toBe(86_400_000);
  });

  it("is sent by the next process when somebody asks for it or edits the object, and is then forgotten", async () => {
    const object = await given();
    scene.restart();
    await settleCreate(object);
    scene.cluster.annotateByHand(object, annotations.reconcileRequestedAt, "now");
    scene.gateway.takeCalls();
    await scene.reconcile(object);
    expect(changesSent()).toHaveLength(1);
    accepting();
    scene.restart();
    await scene.apply(object.kind === "TLSEdge" ? TLSEdge : ReservedDomain, object.metadata.name, {
      ...scene.cluster.now(object).spec,
      description: "three",
    });
    await settleCreate(object);
    expect(scene.condition(object, "Synced")?.status).toBe("True");
    expect(scene.cluster.now(object).status?.refusedRequest).toBeUndefined();
  });
});

it("leaves an object ready that was ready, also after a restart", async () => {
  scene.cluster.setSecret("target", { key: "one" });
  const object = await scene.given(TLSEdge, "web", { description: "one" });
  refusing("update", 422);
  scene.gateway.change(TLSEdge.resource, scene.idOf(object), { description: "by hand" });
  await scene.settle(object);
  const before = scene.condition(object, "Ready");
  expect(before?.status).toBe("True");
  scene.restart();
  await scene.reconcile(object);
  expect(scene.condition(object, "Ready")).toEqual(before);
});

it("is recreated when its spec allows that", async () => {
  const object = await givenUnsupportedUpdate();
  const id = scene.idOf(object);
  scene.restart();
  await scene.apply(ReservedDomain, "shop", { ...scene.cluster.now(object).spec, replacement: "Recreate" });
  await scene.settle(object);
  expect(scene.idOf(object)).not.toBe(id);
  expect(scene.cluster.now(object).status?.refusedRequest).toBeUndefined();
});

// The refusal was that of an update. A create that is held back as well would leave nothing for half an hour.
it.each([
  ["that the service lacks", ReservedDomain, givenUnsupportedUpdate],
  ["with a value that it refuses", TLSEdge, givenRefusedUpdate],
] as const)("is created at once after it was deleted for the sake of an update %s", async (_, kind, given) => {
  const object = await given();
  scene.restart();
  scene.gateway.takeCalls();
  const spec = { ...scene.cluster.now(object).spec, replacement: "Recreate" };
  await scene.apply(kind as typeof ReservedDomain, object.metadata.name, spec as never);
  expect(changesSent().map((call) => call.split(" ")[0])).toEqual(["delete", "create"]);
});
