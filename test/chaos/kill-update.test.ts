import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { useStage } from "./support/stage.ts";
import { type Point, type StepName, traces } from "./support/steps.ts";
import { casesOf, type Subject } from "./support/subjects.ts";

const stage = useStage({ patient: true });

describe.each(["before", "after", "late"] as const)("killed %s a step of an update", (at) => {
  const cases = casesOf("update", at);
  let ids: Map<string, string>;

  beforeAll(async () => {
    await stage.create(cases);
    await stage.start();
    const made = await stage.allReady(cases);
    ids = new Map(cases.map(({ name }) => [name, made.get(name).status.id]));
    await stage.killAt(
      cases.map(({ point }) => point),
      () => stage.apply(cases, ({ subject, name }) => subject.edited(name)),
    );
    await stage.restart();
    await stage.allReady(cases);
    await stage.world.quiet();
  });

  afterAll(() => stage.clear());

  test.each(cases)("$name: the next process ends with the same remote, which matches the spec", (one) => {
    const { subject, name, point } = one;
    const [row, ...more] = stage.remotesOf(one);
    expect(more).toEqual([]);
    expect(row?.["id"]).toBe(ids.get(name));
    expect(subject.isEdited(row ?? {})).toBe(true);
    if (at !== "late") expect(traces(stage.stepsOf(name))).toEqual(expected(subject, point));
  });

  test("no remote of others is changed, and no drift is reported", async () => {
    stage.others.expectUntouched();
    const { items } = JSON.parse((await stage.world.kubectl("get", "events", "-o", "json")).stdout);
    expect(items.filter(({ reason }: { reason: string }) => reason === "RemoteDiffers")).toEqual([]);
  });
});

/** What was not carried out yet. */
const expected = ({ steps: { update = [] } }: Subject, { step, at }: Point): readonly StepName[] =>
  traces(update.slice(update.indexOf(step) + (at === "before" ? 0 : 1)));
