import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { KubeJSON } from "../../tools/shared/objects.ts";
import { isAccepted, isTokenLost } from "./support/replacements.ts";
import { useStage } from "./support/stage.ts";
import { casesOf, type Subject, subjects } from "./support/subjects.ts";

const stage = useStage();

const key = subjects.find(({ sort }) => sort === "key") as Subject;

describe.each(["before", "after", "late"] as const)("killed %s a step of the create of a key", (at) => {
  const cases = casesOf("create", at, [key]);
  let objects: Map<string, KubeJSON>;

  beforeAll(async () => {
    await stage.create(cases);
    await stage.killAt(cases.map(({ point }) => point));
    await stage.restart();
    await stage.allReady(cases);
    // a key that cannot be used is deleted once the new one is in place
    await stage.world.until("one is left of each", async () => cases.every((one) => stage.remotesOf(one).length === 1));
    await stage.world.quiet();
    objects = await stage.objects();
  });

  afterAll(() => stage.clear());

  test.each(cases)("$name: the next process ends with one key, and its token in the Secret", async (one) => {
    const { id } = objects.get(one.name).status;
    expect(stage.remotesOf(one).map((row) => row["id"])).toEqual([id]);
    expect(await isAccepted(stage.world, one.name)).toBe(true);
    expect(stage.createsOf(one.name)).toBe(isTokenLost(one.point) ? 2 : 1);
  });

  test("no remote of others is changed", () => stage.others.expectUntouched());
});
