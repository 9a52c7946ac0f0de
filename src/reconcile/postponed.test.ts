import { beforeEach, describe, expect, it, test } from "vitest";
import { Scene } from "../../test/fakes/reconcile/scene.ts";
import { Turn } from "../account/requests/turn.ts";
import { GatewayError } from "../gateway/errors.ts";
import { IPPolicy } from "../kinds/ip-policy.ts";
import type { ManagedObject } from "../objects/object.ts";
import type { Result } from "../runtime/controller/controller.ts";
import { shownMessage } from "../schema/columns.ts";
import { columnsOf } from "../schema/common.ts";
import { timestamp } from "../schema/time.ts";
import { reconcile } from "./reconcile.ts";

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});

/** One reconcile, as the controller of objects runs it. A second and a half pass. */
async function attempt(object: ManagedObject): Promise<Result> {
  const turn = new Turn(scene.memory.of(object), scene.clock);
  const { turns } = scene.account;
  const running = reconcile({ ...scene.contextFor(object), turn }, { resyncSeconds: 300 });
  await scene.clock.advance(1500);
  const result = await running;
  if ("when" in result) turns.pause(turn, result.when);
  else turns.end(turn);
  return result;
}

async function untilDue(result: Result): Promise<void> {
  if (!("when" in result)) throw new TypeError("it was not postponed");
  let isDue = false;
  const due = () => {
    isDue = true;
  };
  result.when.then(due, due);
  for (let second = 0; !isDue; second += 1) {
    if (second > 700) throw new Error("it is never due");
    await scene.clock.advance(1000);
  }
}

const pause = () => scene.account.turns.budget.pauseAfter429(600);

describe("while the service asks for a pause", () => {
  it("a create is postponed, says until when by one write, and is sent once after it", async () => {
    const object = scene.cluster.apply(IPPolicy, "office", {});
    pause();
    const result = await attempt(object);
    expect(result).toMatchObject({ when: expect.any(Promise) });
    const end = timestamp(scene.account.turns.budget.pauseEnd?.getTime() ?? 0);
    expect(scene.reason(object)).toContain(`RateLimited: Waiting until ${end}, no action is needed`);
    expect(scene.condition(object, "Reconciling")?.status).toBe("True");
    await attempt(object);
    await attempt(object);
    expect([scene.cluster.writes.length, scene.gateway.takeCalls()]).toEqual([1, []]);
    await untilDue(result);
    expect(await attempt(object)).toEqual({});
    expect(scene.gateway.takeCalls().filter((call) => call.startsWith("create"))).toHaveLength(1);
    expect(scene.condition(object, "Ready")?.status).toBe("True");
    expect(scene.memory.of(object).place).toBeUndefined();
  });

  it("a deletion is postponed, and is sent once after it", async () => {
    const object = await scene.given(IPPolicy, "office");
    scene.cluster.delete(object);
    pause();
    await untilDue(await attempt(object));
    for (let result = await attempt(object); "when" in result; result = await attempt(object)) await untilDue(result);
    expect(scene.gateway.takeCalls().filter((call) => call.startsWith("delete"))).toHaveLength(1);
  });

  it("an object that is as specified says nothing of it, although its list has to wait", async () => {
    const object = await scene.given(IPPolicy, "office");
    scene.restart();
    pause();
    expect(await attempt(object)).toMatchObject({ when: expect.any(Promise) });
    expect(scene.cluster.writes).toEqual([]);
  });

  it("an edit and a deletion say so", async () => {
    const [edited, deleted] = [await scene.given(IPPolicy, "edited"), await scene.given(IPPolicy, "deleted")];
    pause();
    scene.cluster.apply(IPPolicy, "edited", { description: "new" });
    await attempt(edited);
    expect(scene.condition(edited, "Ready")).toMatchObject({ status: "False", reason: "RateLimited" });
    scene.cluster.delete(deleted);
    await attempt(deleted);
    expect(scene.condition(deleted, "Ready")).toMatchObject({ status: "False", reason: "RateLimited" });
  });

  it("of a few seconds, nothing is written", async () => {
    const object = scene.cluster.apply(IPPolicy, "office", {});
    scene.account.turns.budget.pauseAfter429(4);
    await attempt(object);
    expect(scene.cluster.writes).toEqual([]);
  });

  it("an object that sends no request is not postponed", async () => {
    const object = await scene.given(IPPolicy, "office");
    pause();
    expect(await attempt(object)).toEqual({});
  });

  it("an object whose turn has come after a failure is not rejected as too soon", async () => {
    const object = await scene.given(IPPolicy, "office");
    scene.gateway.refuse("update", 500);
    const edited = scene.cluster.apply(IPPolicy, "office", { description: "edited" });
    await attempt(edited);
    expect(scene.condition(object, "Synced")?.status).toBe("False");
    await scene.clock.advance(600_000);
    scene.lane = "retry";
    pause();
    await untilDue(await attempt(edited));
    await attempt(edited);
    expect(scene.condition(object, "Synced")?.status).toBe("True");
  });
});

describe("while many requests wait for their turn", () => {
  const waiting = "Waiting for its turn, no action is needed: at most 100 requests are sent in a minute";

  /** So many that the last one waits for about this long. */
  function fill(seconds: number): void {
    const { budget } = scene.account.turns;
    while (budget.tryAcquire("edit"));
    for (let count = 0; count < (seconds * 100) / 60; count += 1) void budget.acquire("edit");
  }

  beforeEach(() => {
    scene = new Scene({ requestsPerMinute: 100 });
  });

  it("a new object says so by one write, without an event, and is created in its turn", async () => {
    const object = scene.cluster.apply(IPPolicy, "office", {});
    fill(40);
    const result = await attempt(object);
    expect(scene.condition(object, "Ready")).toMatchObject({ status: "Unknown", reason: "Pending", message: waiting });
    expect(scene.cluster.now(object).status?.["columns"]).toEqual({
      reason: "Pending",
      message: shownMessage(columnsOf(IPPolicy), waiting),
    });
    await attempt(object);
    expect([scene.cluster.writes.length, scene.gateway.takeCalls()]).toEqual([1, []]);
    await untilDue(result);
    for (let next = await attempt(object); "when" in next; next = await attempt(object)) await untilDue(next);
    expect(scene.condition(object, "Ready")?.status).toBe("True");
    expect(scene.cluster.events).toEqual([]);
  });

  it("of some seconds, nothing is written", async () => {
    const object = scene.cluster.apply(IPPolicy, "office", {});
    fill(20);
    expect(await attempt(object)).toMatchObject({ when: expect.any(Promise) });
    expect(scene.cluster.writes).toEqual([]);
  });

  it("an edit waits without a word: its object reads as not up to date", async () => {
    const object = await scene.given(IPPolicy, "office");
    const edited = scene.cluster.apply(IPPolicy, "office", { description: "edited" });
    fill(40);
    await attempt(edited);
    const before = scene.cluster.writes.length;
    await attempt(edited);
    expect(scene.cluster.writes.length).toBe(before);
    expect(scene.condition(object, "Ready")).toMatchObject({ status: "True", reason: "Available" });
    expect(scene.condition(object, "Ready")?.observedGeneration).not.toBe(edited.metadata.generation);
  });
});

test("an object whose list does not arrive reports that, and does not wait for the next list", async () => {
  const object = await scene.given(IPPolicy, "office");
  scene.restart();
  const lost = new GatewayError({ method: "GET", route: "/ip_policies", kind: "unknown", problem: "no answer" });
  scene.gateway.list = async function* () {
    await new Promise((resolve) => scene.clock.setTimeout(() => resolve(undefined), 5000));
    yield Promise.reject(lost);
  };
  await untilDue(await attempt(object));
  const result = await attempt(object);
  expect(result).not.toHaveProperty("when");
  expect(scene.condition(object, "Synced")).toMatchObject({ status: "False", reason: "ServiceUnavailable" });
});
