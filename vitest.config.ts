import { basename, join } from "node:path";
import { configDefaults, defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

// these need a Kubernetes API server, which global-setup.ts starts once for all of them
const clusterTests = ["test/{integration,e2e,chaos}/**/*.test.ts", "tools/cluster/{cluster,lifecycle}.test.ts"];
// the longest of them, longest first
const longest = [
  ...["namespaced", "failing-route", "monitoring", "api-server", "demo", "sessions", "dns", "pages", "install"],
  ...["replicas", "bench", "connections", "brakes", "upgrade", "answers", "clock", "flux", "kill-delete"],
  ...["unread-namespace", "lifecycle", "take-over", "kill-create", "kill-replace", "kill-again"],
];

/** Starts the longest files first: one of them that is started last would run alone at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) =>
      longest.indexOf(basename(moduleId, ".test.ts")) + 1 || longest.length + 1;
    return (await super.sort(files)).sort((one, other) => rank(one) - rank(other));
  }
}

// these build the documentation site, which has packages of its own
const siteTests = ["test/site/**/*.test.ts"];

// These limits end what hangs, also on a machine that has much else to do. No test takes nearly as long.
const limits = { testTimeout: 600_000, hookTimeout: 600_000, expect: { poll: { timeout: 60_000 } } };

// `npm run test:nightly` runs these alone: what they need takes too long to build for a run of all tests
const nightlyTests = ["test/nightly/**/*.test.ts"];
// these need a browser, and no cluster
const looks = ["test/nightly/site/**/*.test.ts"];

const onCluster = {
  globalSetup: ["tools/cluster/global-setup.ts"],
  isolate: false,
  // for the operators that tests start, several hundred times in all
  env: { NODE_COMPILE_CACHE: join(import.meta.dirname, "node_modules/.cache/node") },
  ...limits,
};

const projects = [
  {
    test: {
      name: "unit",
      // the default leaves a core idle, which on two cores is half the machine
      maxWorkers: 2,
      include: ["{src,test,tools}/**/*.test.ts"],
      exclude: [...configDefaults.exclude, ...clusterTests, ...siteTests, ...nightlyTests],
      // importing everything anew for each file took more than half of the time
      isolate: false,
      setupFiles: ["src/runtime/testing/seeded.ts"],
      unstubEnvs: true,
      ...limits,
    },
  },
  { test: { name: "site", maxWorkers: 2, include: siteTests, ...limits } },
  {
    test: {
      name: "cluster",
      include: clusterTests,
      // Half of the time of these tests is waiting. Four at a time keep two cores busy, and six gain no more.
      maxWorkers: 4,
      sequence: { groupOrder: 1 },
      ...onCluster,
    },
  },
];

// one after the other, because each takes both cores
const nightly = [
  { test: { name: "nightly", include: nightlyTests, exclude: looks, maxWorkers: 1, ...onCluster } },
  { test: { name: "looks", include: looks, maxWorkers: 1, sequence: { groupOrder: 1 }, ...limits } },
];

export default defineConfig(({ mode }) => ({
  test: { sequence: { sequencer: LongestFirst }, projects: mode === "nightly" ? nightly : projects },
}));
