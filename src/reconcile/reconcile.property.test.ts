import fc from "fast-check";
import { expect, test } from "vitest";
import { anchors, rareRuns, stepLists, subjectSets, withSubjectFrom } from "../../test/fakes/reconcile/random-steps.ts";
import { subjects } from "../../test/fakes/reconcile/random-subjects.ts";
import { happened, World } from "../../test/fakes/reconcile/random-world.ts";
import { seed } from "../../test/fakes/runtime/seed.ts";

// Random steps in any order on a few objects. No step may change a remote of somebody else, delete one of ours without
// cause, create one twice, or change anything in another account. Once nothing more happens, cluster and account must agree.

/** What the listed runs must have caused at least once, since otherwise the test proves nothing. */
const expected = [
  ...["apply", "delete", "restart", "restore", "resync", "rotate", "killed", "refuse", "drifted", "dropped"],
  // A remote that was free was taken over by another namespace, and deleted with its object.
  ...["update by another namespace", "delete by another namespace"],
  // A remote went to another object; the cluster got another id; a wrong key was read.
  ...["moved", "change cluster id", "asked another account", "wanted what another account has"],
  // An older state came back.
  ...["restored a backup"],
  // Drift was corrected, a remote recreated, one replaced, and one in use waited for.
  ...["Update: RemoteDiffers", "Create: RemoteMissing", "Create: Updating", "Delete: InUse"],
];

const RUNS = Number(process.env["RANDOM_RUNS"] ?? 80);

const property = fc.asyncProperty(
  fc.subarray([...subjects.keys()]),
  subjectSets,
  stepLists,
  fc.boolean(),
  fc.constantFrom(...anchors),
  async (there, indexes, steps, listsHideMarks, anchoredBy) => {
    const world = new World({ listsHideMarks, anchoredBy });
    await world.begin(there);
    for (const step of steps) await world.run(withSubjectFrom(indexes, step));
    await world.calmDown();
    world.expectAgreement();
    world.expectNoLeftovers();
  },
);

const given = seed();

// Guards against cases that nobody thought of in the other tests.
test(`whatever happens, in whatever order, cluster and account agree in the end; CHAOS_SEED=${given}`, {
  timeout: Math.max(600_000, 2_000 * RUNS),
}, async () => {
  await fc.assert(property, { numRuns: rareRuns.length, examples: rareRuns });
  expect(happened).toEqual(new Set([...happened, ...expected]));
  await fc.assert(property, { numRuns: RUNS, seed: given });
});
