import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { STORY_MS, useStage } from "./stage.ts";
import type { StepName } from "./steps.ts";
import { casesOf } from "./subjects.ts";

const stage = useStage();

describe.each(["before", "after", "late"] as const)("killed %s a step of a delete", (at) => {
  const cases = casesOf("delete", at);

  beforeAll(async () => {
    await stage.create(cases);
    await stage.start();
    await stage.allReady(cases);
    await stage.killAt(
      cases.map(({ point }) => point),
      () => stage.world.kubectl("delete", "tunnelgateway", "--all", "--wait=false"),
    );
    await stage.restart();
    await stage.allGone();
    await stage.world.quiet();
  }, STORY_MS);

  afterAll(() => stage.clear());

  test.each(cases)("$name: nothing is left", (one) => {
    const { name, point } = one;
    expect(stage.remotesOf(one)).toEqual([]);
    if (at !== "late") expect(stage.stepsOf(name)).toEqual(successors[`${at} ${point.step}`]);
  });

  test("nothing of somebody else's is touched", () => stage.others.expectUntouched());
});

const successors: Readonly<Record<string, readonly StepName[]>> = {
  "before DELETE": ["DELETE", "finalizer"],
  // is told that it is not there
  "after DELETE": ["DELETE", "finalizer"],
  "before finalizer": ["DELETE", "finalizer"],
  // the object is gone
  "after finalizer": [],
};

describe("killed within a create, then deleted together with its Secret", () => {
  const points = [
    { step: "intent", at: "after" },
    { step: "POST", at: "after" },
    { step: "POST", at: "late" },
    { step: "status", at: "before" },
  ] as const;
  const cases = points.flatMap(({ step, at }) => casesOf("create", at).filter(({ point }) => point.step === step));

  beforeAll(async () => {
    await stage.create(cases);
    await stage.killAt(cases.map(({ point }) => point));
    await stage.world.kubectl("delete", "tunnelgateway,secrets", "--all", "--wait=false");
    await stage.restart();
    await stage.allGone();
    await stage.world.quiet();
  }, STORY_MS);

  afterAll(() => stage.clear());

  test.each(cases)("$name: nothing is left, nor made again", (one) => {
    const { name, point } = one;
    expect(stage.remotesOf(one)).toEqual([]);
    expect(stage.createsOf(name)).toBe(point.step === "intent" ? 0 : 1);
  });

  test("nothing of somebody else's is touched", () => stage.others.expectUntouched());
});
