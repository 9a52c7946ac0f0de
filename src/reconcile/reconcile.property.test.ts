import fc from "fast-check";
import { expect, test } from "vitest";
import { seed } from "../runtime/testing/seed.ts";
import { rareExamples, stepLists, subjectSets, withSubjectFrom } from "./testing/random-steps.ts";
import { subjects } from "./testing/random-subjects.ts";
import { happened, World } from "./testing/random-world.ts";

// Everything that may happen to a few objects, in any order: at no step is a remote of somebody else's touched, one of
// ours deleted without cause, or one made twice; and once it is quiet, cluster and account agree.

/** Or else the steps do nothing, and nothing is tested. */
const expected = [
  ...["apply", "delete", "restart", "restore", "resync", "rotate", "killed", "refuse", "drifted", "dropped"],
  // put right, made again, replaced, and waited for
  ...["Update: RemoteDiffers", "Create: RemoteMissing", "Create: Updating", "Delete: InUse"],
];

const given = seed();

// guards against what nobody thought of when writing the other tests
test(`whatever happens, in whatever order, cluster and account agree in the end; CHAOS_SEED=${given}`, {
  timeout: 180_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.subarray([...subjects.keys()]), subjectSets, stepLists, async (there, indexes, steps) => {
      const world = new World();
      await world.begin(there);
      for (const step of steps) await world.run(withSubjectFrom(indexes, step));
      await world.calmDown();
      world.expectAgreement();
      world.expectNoLeftovers();
    }),
    { numRuns: Number(process.env["RANDOM_RUNS"] ?? 100), seed: given, examples: rareExamples },
  );
  expect(happened).toEqual(new Set([...happened, ...expected]));
});
