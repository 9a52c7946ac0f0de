import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { useStage } from "./support/stage.ts";
import type { Point } from "./support/steps.ts";
import { creatingCases, type Moment, sought } from "./support/subjects.ts";

const stage = useStage();

describe("killed within a create, and again and again within the recovery", () => {
  /** The first death, and the last of those after it. What was made is found, what was not is created. */
  const deaths: readonly { first: Moment; last: Moment }[] = [
    { first: { step: "making", at: "after" }, last: { step: "status", at: "before" } },
    { first: { step: "status", at: "before" }, last: { step: "status", at: "after" } },
    { first: { step: "making", at: "before" }, last: { step: "making", at: "late" } },
    { first: { step: "intent", at: "after" }, last: { step: "making", at: "after" } },
  ];
  const cases = deaths.flatMap(({ first, last }) =>
    creatingCases(sought, [first]).map((one) => {
      const [end] = creatingCases([one.subject], [last]);
      // what was done before is not done again
      return { ...one, last: { ...(end?.point as Point), of: one.name, after: undefined } };
    }),
  );
  const lists = (at: Point["at"]) => sought.map(({ collection }): Point => ({ of: collection, step: "LIST", at }));

  beforeAll(async () => {
    await stage.create(cases);
    for (const at of ["before", "after"] as const) await stage.killAt([{ of: "default", step: "account", at }]);
    await stage.killAt(cases.map(({ point }) => point));
    await stage.killAt(lists("before"));
    await stage.killAt(lists("after"));
    await stage.killAt(cases.map(({ last }) => last));
    await stage.restart();
    await stage.allReady(cases);
    await stage.world.quiet();
  });

  afterAll(() => stage.clear());

  test.each(cases)("$name: the last process ends with one remote", async (one) => {
    const { name } = one;
    const rows = stage.remotesOf(one);
    expect(rows.map(({ id }) => id)).toEqual([(await stage.objects()).get(name).status.id]);
    expect(stage.createsOf(name)).toBe(1);
  });

  test("no remote of others is changed", () => stage.others.expectUntouched());
});

describe("killed within a create, then edited before the next process starts", () => {
  const changeable = sought.filter(({ steps }) => steps.update);
  const cases = creatingCases(changeable, [
    { step: "making", at: "after" },
    { step: "making", at: "late" },
    { step: "status", at: "before" },
  ]);

  beforeAll(async () => {
    await stage.create(cases);
    await stage.killAt(cases.map(({ point }) => point));
    await stage.apply(cases, ({ subject, name }) => subject.edited(name));
    await stage.restart();
    await stage.allReady(cases);
    await stage.world.quiet();
  });

  afterAll(() => stage.clear());

  test.each(cases)("$name: the next process ends with one remote that matches the edited spec", (one) => {
    const { name } = one;
    const rows = stage.remotesOf(one);
    expect(rows.map(one.subject.isEdited)).toEqual([true]);
    expect(stage.createsOf(name)).toBe(1);
  });

  test("no remote of others is changed", () => stage.others.expectUntouched());
});
