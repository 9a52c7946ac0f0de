import { beforeEach, describe, expect, it } from "vitest";
import { Scene } from "../../test/fakes/reconcile/scene.ts";
import { IPPolicy } from "../kinds/ip-policy.ts";
import type { ManagedObject } from "../objects/object.ts";
import { annotations } from "../schema/contract.ts";

let scene: Scene;
let object: ManagedObject;

beforeEach(async () => {
  scene = new Scene();
  object = await scene.given(IPPolicy, "office");
});

const isInAccount = (): boolean => scene.gateway.remotesOf(IPPolicy.resource).length === 1;

describe.each(["True", "yes", "1", ""])("an annotation with the value %j", (value) => {
  it("holds a deletion back when it may mean orphan, and says what to write", async () => {
    scene.cluster.annotateByHand(object, annotations.orphan, value);
    await scene.deleteAndSettle(object);
    expect([scene.cluster.exists(object), isInAccount()]).toEqual([true, true]);
    expect(scene.reason(object)).toContain(`InvalidAnnotation: Write "true" or "false" in the annotation`);
    expect(scene.condition(object, "Stalled")?.status).toBe("True");
    expect(scene.cluster.events.map(({ type, reason }) => [type, reason])).toContainEqual([
      "Warning",
      "InvalidAnnotation",
    ]);
  });

  it.each([
    ["true", true],
    ["false", false],
  ])("goes on once it is %j", async (clear, isKept) => {
    scene.cluster.annotateByHand(object, annotations.orphan, value);
    await scene.delete(object);
    scene.cluster.annotateByHand(object, annotations.orphan, clear);
    await scene.settle(object);
    expect([scene.cluster.exists(object), isInAccount()]).toEqual([false, isKept]);
  });

  it("pauses the object when it may mean a pause, and says what to write", async () => {
    scene.cluster.annotateByHand(object, annotations.paused, value);
    await scene.deleteAndSettle(object);
    expect([scene.cluster.exists(object), isInAccount()]).toEqual([true, true]);
    expect(scene.condition(object, "Paused")?.message).toContain(`Write "true" or "false" in the annotation`);
    scene.cluster.annotateByHand(object, annotations.paused, "false");
    await scene.settle(object);
    expect([scene.cluster.exists(object), isInAccount()]).toEqual([false, false]);
  });
});

it("leaves the remote of an object that is gone, whose annotation may mean yes", async () => {
  scene.cluster.annotateByHand(object, annotations.orphan, "True");
  scene.cluster.delete(object);
  scene.cluster.unfinalized.push(scene.cluster.now(object));
  await scene.settle(object);
  expect(isInAccount()).toBe(true);
  expect(scene.cluster.events.map(({ note }) => note)).toContainEqual(expect.stringContaining("Left "));
});

describe("an unknown name", () => {
  const name = "tunnelgateway.dev/orphaned";
  const told = () => scene.condition(object, "AnnotationsValid");

  it("is told once, in the status and by an event", async () => {
    scene.cluster.annotateByHand(object, name, "true");
    for (let round = 0; round < 3; round += 1) await scene.reconcile(object);
    expect(told()).toMatchObject({ status: "False", reason: "InvalidAnnotation" });
    expect(told()?.message).toContain(name);
    expect(scene.condition(object, "Ready")?.status).toBe("True");
    expect(scene.cluster.writes).toHaveLength(1);
    expect(scene.cluster.events.filter(({ reason }) => reason === "InvalidAnnotation")).toHaveLength(1);
    expect(scene.cluster.now(object).status?.columns?.["message"]).toContain(name);
  });

  it("is told of an object that is paused, and no more once it is gone", async () => {
    scene.cluster.annotateByHand(object, annotations.paused, "true");
    scene.cluster.annotateByHand(object, name, "true");
    await scene.reconcile(object);
    expect(told()?.status).toBe("False");
    scene.cluster.removeAnnotation(object, name);
    await scene.reconcile(object);
    expect(told()).toBeUndefined();
  });
});
