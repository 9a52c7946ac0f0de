import { basename } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Random tests come last: they take long, and the run of a change ends at the first test that fails. */
class RandomLast extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isRandom = ({ moduleId }: TestSpecification) => Number(basename(moduleId).includes(".property."));
    return (await super.sort(files)).sort((one, other) => isRandom(one) - isRandom(other));
  }
}

/** The unit tests, for StrykerJS, which runs for each change the tests that come to it. */
export default defineConfig({
  test: {
    include: process.env["MUTATE_TESTS"]?.split(",") ?? [],
    sequence: { sequencer: RandomLast },
    isolate: false,
    unstubEnvs: true,
    testTimeout: 20_000,
    // a test is known by its name, and the name of a random test has the seed in it
    env: { CHAOS_SEED: "1", RANDOM_RUNS: "10" },
  },
});
