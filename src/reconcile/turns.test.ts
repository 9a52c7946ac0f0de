import { beforeEach, describe, expect, it } from "vitest";
import { Scene } from "../../test/fakes/reconcile/scene.ts";
import { IPPolicy } from "../kinds/ip-policy.ts";
import type { ManagedObject } from "../objects/object.ts";

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});

const names = ["a", "b", "c", "d", "e", "f"];
/** Objects whose request to the same route has just not arrived, so that they take turns. */
async function givenFailed(verb: "create" | "update"): Promise<ManagedObject[]> {
  if (verb === "update") for (const name of names) await scene.given(IPPolicy, name);
  const objects: ManagedObject[] = [];
  for (const name of names) {
    scene.gateway.refuse(verb, 503, { kind: "unsent" });
    objects.push(await scene.apply(IPPolicy, name, { description: "new" }));
  }
  scene.lane = "retry";
  // their own delays are over, and the turn of the first begins a second later
  await scene.clock.advance(1000);
  scene.gateway.takeCalls();
  return objects;
}

const callsOf = async (object: ManagedObject | undefined): Promise<string[]> => {
  if (object) await scene.reconcile(object);
  return scene.gateway.takeCalls();
};

describe.each(["create", "update"] as const)("objects whose %s failed, one after the other,", (verb) => {
  it("are tried one at a time", async () => {
    const [first, second] = await givenFailed(verb);
    expect(await callsOf(first)).toEqual([]);
    await scene.clock.advance(1000);
    // this answer says nothing about the route
    scene.gateway.refuse(verb, 422);
    expect((await callsOf(first)).filter((call) => call !== "list")).toHaveLength(1);
    expect(await callsOf(second)).toEqual([]);
    await scene.clock.advance(2000);
    expect(await callsOf(second)).toHaveLength(1);
  });

  it("need no turn once another object has succeeded there", async () => {
    const other = verb === "update" ? await scene.given(IPPolicy, "other") : undefined;
    const [first, second] = await givenFailed(verb);
    if (other) await scene.apply(IPPolicy, "other", { description: "new" });
    else await scene.apply(IPPolicy, "other");
    scene.gateway.takeCalls();
    expect(await callsOf(first)).toHaveLength(1);
    expect(await callsOf(second)).toHaveLength(1);
  });

  it("still take turns when another object has succeeded elsewhere", async () => {
    const other = verb === "create" ? await scene.given(IPPolicy, "other") : undefined;
    const [first] = await givenFailed(verb);
    if (other) await scene.apply(IPPolicy, "other", { description: "new" });
    else await scene.apply(IPPolicy, "other");
    scene.gateway.takeCalls();
    expect(await callsOf(first)).toEqual([]);
  });
});

describe("five objects whose creates fail on one route", () => {
  let objects: ManagedObject[];
  const refuseFive = () => {
    scene.gateway.forgetFaults();
    for (let count = 0; count < 5; count += 1) scene.gateway.refuse("create", 403);
  };

  beforeEach(async () => {
    refuseFive();
    objects = [];
    for (const name of ["a", "b", "c", "d", "e"]) objects.push(await scene.apply(IPPolicy, name));
    await scene.clock.advance(120_000);
    scene.gateway.takeCalls();
    refuseFive();
  });

  const attempts = async () => {
    for (const object of objects) await scene.reconcile(object);
    return scene.gateway.takeCalls().filter((call) => call === "create").length;
  };

  it("are tried one at a time", async () => {
    expect(await attempts()).toBe(1);
  });

  it("need no turns once the route has answered another object", async () => {
    scene.gateway.forgetFaults();
    await scene.given(IPPolicy, "other");
    refuseFive();
    expect(await attempts()).toBe(5);
  });
});
