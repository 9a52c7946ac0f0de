import { expect, test } from "vitest";
import { describeFailure } from "./failure.ts";

const failure = {
  file: "test/chaos/clock.test.ts",
  project: "cluster",
  name: "the calendar is set, with CHAOS_SEED=7 > forward",
  errors: [{ message: "expected 1 to be 2\nand more" }],
  operator: "first line\nlast line",
};

test("a failure says what failed, why, what the operator printed, and how to repeat it with its seed", () => {
  expect(describeFailure(failure)).toEqual([
    "",
    "FAILED test/chaos/clock.test.ts > the calendar is set, with CHAOS_SEED=7 > forward",
    "  because expected 1 to be 2",
    "  The operator's last lines:",
    "    first line",
    "    last line",
    "  again: CHAOS_SEED=7 npm run test:file -- --project cluster test/chaos/clock.test.ts",
  ]);
});

test("a hook that fails has the lines of its error", () => {
  const errors = [{ message: "Not within 120 s\nline of the operator" }];
  expect(describeFailure({ ...failure, name: "", errors, operator: undefined })).toEqual([
    "",
    "FAILED test/chaos/clock.test.ts",
    "  because Not within 120 s",
    "    line of the operator",
    "  again: npm run test:file -- --project cluster test/chaos/clock.test.ts",
  ]);
});

test("a file that cannot be imported has no test, and no operator", () => {
  const file = "test/nightly/flux.test.ts";
  const errors = [{ message: "Cannot find module" }];
  expect(describeFailure({ file, project: "nightly", name: "", errors, operator: undefined })).toEqual([
    "",
    "FAILED test/nightly/flux.test.ts",
    "  because Cannot find module",
    "  again: npm run test:file -- --mode nightly --project nightly test/nightly/flux.test.ts",
  ]);
});
