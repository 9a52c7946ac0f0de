import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { recordedRecreating, recreating } from "./support/replacements.ts";
import { useStage } from "./support/stage.ts";
import type { Point } from "./support/steps.ts";
import { type Subject, subjects } from "./support/subjects.ts";

// A service that cannot change a domain, and an operator that is told so: it need not find out.
const stage = useStage({
  simulator: { undocumented: false },
  env: { GATEWAY_UNDOCUMENTED_OPERATIONS: "false" },
});

const domain = subjects.find(({ sort }) => sort === "domain") as Subject;

/** An object that only reports drift first records that it is the operator who deletes the remote. */
const sorts = [
  { driftPolicy: "Correct", steps: recreating },
  { driftPolicy: "Report", steps: recordedRecreating },
] as const;

const ways = (["before", "after", "late"] as const).flatMap((at) => sorts.map((sort) => ({ at, ...sort })));

describe.each(ways)(
  "killed $at a step of a recreation, with driftPolicy: $driftPolicy",
  ({ at, driftPolicy, steps }) => {
    const more = { replacement: "Recreate", driftPolicy };
    const subject: Subject = {
      ...domain,
      spec: (name) => ({ ...domain.spec(name), ...more }),
      edited: (name) => ({ ...domain.edited(name), ...more }),
    };
    const cases = steps.map((step, index) => {
      const name = `${driftPolicy}-${at}-${index}-${step}`.toLowerCase();
      return { subject, name, point: { of: name, step, at, after: steps[index - 1] } satisfies Point };
    });
    const ids = new Map<string, string>();

    beforeAll(async () => {
      await stage.create(cases);
      await stage.start();
      const made = await stage.allReady(cases);
      for (const { name } of cases) ids.set(name, made.get(name).status.id);
      await stage.killAt(
        cases.map(({ point }) => point),
        () => stage.apply(cases, ({ name }) => subject.edited(name)),
      );
      await stage.restart();
      await stage.allReady(cases);
      await stage.world.quiet();
    });

    afterAll(() => stage.clear());

    test.each(cases)("$name: one domain in the end, created once more, as the spec says", async (one) => {
      const [row, ...more] = stage.remotesOf(one);
      expect(more).toEqual([]);
      expect(row?.["id"]).toBe((await stage.objects()).get(one.name).status.id);
      expect(row?.["id"]).not.toBe(ids.get(one.name));
      expect(subject.isEdited(row ?? {})).toBe(true);
      expect(stage.createsOf(one.name)).toBe(2);
    });

    test("no remote of others is changed", () => stage.others.expectUntouched());
  },
);
