import { basename, join } from "node:path";
import { configDefaults, defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { clusterFiles, clusterTests, longest, looks, nightlyTests, siteTests } from "./tools/suite/parts.ts";
import { SuiteReporter } from "./tools/suite/reporter.ts";

/** Starts the longest files first: one of them that is started last would run alone at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) =>
      longest.indexOf(basename(moduleId, ".test.ts")) + 1 || longest.length + 1;
    return (await super.sort(files)).sort((one, other) => rank(one) - rank(other));
  }
}

// with --sequence.shuffle.files, vitest puts files into the order of --sequence.seed
const isShuffled = process.argv.some((argument) => argument.startsWith("--sequence.shuffle"));

// These limits end what hangs, also on a machine that has much else to do. No test takes nearly as long.
const limits = { testTimeout: 600_000, hookTimeout: 600_000, expect: { poll: { timeout: 60_000 } } };

const onCluster = {
  setupFiles: ["test/fakes/runtime/seeded.ts"],
  globalSetup: ["tools/cluster/global-setup.ts"],
  isolate: false,
  ...limits,
};

const projects = (mode: string) => [
  {
    test: {
      name: "unit",
      // the default leaves a core idle, which on two cores is half the machine
      maxWorkers: 2,
      include: ["{src,test,tools}/**/*.test.ts"],
      exclude: [...configDefaults.exclude, ...clusterTests, ...siteTests, ...nightlyTests],
      // importing everything anew for each file took more than half of the time
      isolate: false,
      setupFiles: ["test/fakes/runtime/seeded.ts"],
      // for the programs that a few of them start
      env: { NODE_COMPILE_CACHE: join(import.meta.dirname, "node_modules/.cache/node") },
      unstubEnvs: true,
      ...limits,
    },
  },
  { test: { name: "site", maxWorkers: 2, include: [...siteTests], ...limits } },
  {
    test: {
      name: "cluster",
      ...clusterFiles(mode),
      // Half of the time of these tests is waiting. Four at a time keep two cores busy, and six gain no more.
      maxWorkers: 4,
      sequence: { groupOrder: 1 },
      ...onCluster,
    },
  },
];

// one after the other, because each takes both cores
const nightly = [
  { test: { name: "nightly", include: [...nightlyTests], exclude: [...looks], maxWorkers: 1, ...onCluster } },
  { test: { name: "looks", include: [...looks], maxWorkers: 1, sequence: { groupOrder: 1 }, ...limits } },
];

export default defineConfig(({ mode }) => ({
  test: {
    ...(!isShuffled && { sequence: { sequencer: LongestFirst } }),
    // what tests print is shown where one of them fails
    silent: "passed-only",
    reporters: [new SuiteReporter(), ...(process.env["GITHUB_ACTIONS"] ? ["github-actions"] : [])],
    projects: mode === "nightly" ? nightly : projects(mode),
  },
}));
