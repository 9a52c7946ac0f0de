import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { KubeJSON } from "../support/world.ts";
import { type Point, STORY_MS, useStage } from "./stage.ts";
import type { StepName } from "./steps.ts";
import { casesOf, type Subject, subjects } from "./subjects.ts";

const stage = useStage();

const domain = subjects[0] as Subject;
const claim: Subject = {
  ...domain,
  sort: "claim",
  spec: (name) => ({ ...domain.spec(name), adopt: { existing: true }, deletionPolicy: "Delete" }),
};

describe.each(["before", "after", "late"] as const)("killed %s a step of a create", (at) => {
  const cases = casesOf("create", at, [...subjects, claim]);
  let objects: Map<string, KubeJSON>;

  beforeAll(async () => {
    await stage.create(cases);
    await stage.killAt(cases.map(({ point }) => point));
    await stage.restart();
    objects = await stage.allReady(cases);
    await stage.world.quiet();
  }, STORY_MS);

  afterAll(() => stage.clear());

  test.each(cases)("$name: the next process ends with one remote", (one) => {
    const { subject, name, point } = one;
    const rows = stage.remotesOf(one);
    expect(rows.map(({ id }) => id)).toEqual([objects.get(name).status.id]);
    expect(stage.createsOf(name)).toBe(1);
    if (at !== "late") expect(done(stage.stepsOf(name))).toEqual(expected(subject, point));
  });

  test("nothing of somebody else's is touched", () => stage.others.expectUntouched());
});

/** What the next process does, by the last step that was carried out. Reading a Secret is no trace. */
const successors: Partial<Record<StepName, readonly StepName[]>> = {
  secret: ["intent", "POST", "status"],
  // says that it waits until the request can no longer be under way, looks once more, and creates
  intent: ["status", "intent", "POST", "status"],
  // finds it in the list
  POST: ["status"],
  status: [],
};

function expected({ steps: { create = [] } }: Subject, { step, at }: Point): readonly StepName[] | undefined {
  const last = create[create.indexOf(step) - (at === "before" ? 1 : 0)] ?? "secret";
  const steps = successors[last];
  // the value of a Secret cannot be seen in the account, so it is sent again
  return last === "POST" && create.includes("secret") ? ["PATCH", "status"] : steps;
}

const done = (steps: readonly StepName[]): StepName[] => steps.filter((step) => step !== "secret");
