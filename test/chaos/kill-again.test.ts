import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Point, STORY_MS, useStage } from "./stage.ts";
import { casesOf, subjects } from "./subjects.ts";

const stage = useStage();

describe("killed within a create, and again and again within the recovery", () => {
  /** The first death, and the last of those after it. What was made is found, what was not is created. */
  const deaths = [
    { first: { step: "POST", at: "after" }, last: { step: "status", at: "before" } },
    { first: { step: "status", at: "before" }, last: { step: "status", at: "after" } },
    { first: { step: "POST", at: "before" }, last: { step: "POST", at: "late" } },
    { first: { step: "intent", at: "after" }, last: { step: "POST", at: "after" } },
  ] as const;
  const cases = deaths.flatMap(({ first, last }) =>
    casesOf("create", first.at)
      .filter(({ point }) => point.step === first.step)
      .map((one) => ({ ...one, last: { ...last, of: one.name } satisfies Point })),
  );
  const lists = (at: Point["at"]) => subjects.map(({ collection }): Point => ({ of: collection, step: "LIST", at }));

  beforeAll(async () => {
    await stage.create(cases);
    await stage.killAt(cases.map(({ point }) => point));
    await stage.killAt(lists("before"));
    await stage.killAt(lists("after"));
    await stage.killAt(cases.map(({ last }) => last));
    await stage.restart();
    await stage.allReady(cases);
    await stage.world.quiet();
  }, STORY_MS);

  afterAll(() => stage.clear());

  test.each(cases)("$name: the last process ends with one remote", async (one) => {
    const { name } = one;
    const rows = stage.remotesOf(one);
    expect(rows.map(({ id }) => id)).toEqual([(await stage.objects()).get(name).status.id]);
    expect(stage.createsOf(name)).toBe(1);
  });

  test("nothing of somebody else's is touched", () => stage.others.expectUntouched());
});

describe("killed within a create, then edited before the next process starts", () => {
  const points = [
    { step: "POST", at: "after" },
    { step: "POST", at: "late" },
    { step: "status", at: "before" },
  ] as const;
  const cases = points.flatMap(({ step, at }) => casesOf("create", at).filter(({ point }) => point.step === step));

  beforeAll(async () => {
    await stage.create(cases);
    await stage.killAt(cases.map(({ point }) => point));
    await stage.apply(cases, ({ subject, name }) => subject.edited(name));
    await stage.restart();
    await stage.allReady(cases);
    await stage.world.quiet();
  }, STORY_MS);

  afterAll(() => stage.clear());

  test.each(cases)("$name: the next process ends with one remote, as the spec says now", (one) => {
    const { name } = one;
    const rows = stage.remotesOf(one);
    expect(rows.map(one.subject.isEdited)).toEqual([true]);
    expect(stage.createsOf(name)).toBe(1);
  });

  test("nothing of somebody else's is touched", () => stage.others.expectUntouched());
});
