import { join } from "node:path";
import { configDefaults, defineConfig } from "vitest/config";

// these need a Kubernetes API server, which global-setup.ts starts once for all of them
const clusterTests = ["test/{integration,e2e,chaos}/**/*.test.ts", "tools/cluster/{cluster,lifecycle}.test.ts"];
const limits = { testTimeout: 30_000, hookTimeout: 60_000 };

export default defineConfig({
  test: {
    // the default leaves a core idle, which on two cores is half the machine; tests mostly wait
    maxWorkers: 2,
    projects: [
      {
        test: {
          name: "unit",
          include: ["{src,test,tools}/**/*.test.ts"],
          exclude: [...configDefaults.exclude, ...clusterTests],
          // importing everything anew for each file took more than half of the time
          isolate: false,
          unstubEnvs: true,
          ...limits,
        },
      },
      {
        test: {
          name: "cluster",
          include: clusterTests,
          globalSetup: ["tools/cluster/global-setup.ts"],
          isolate: false,
          // for the operators that tests start, several hundred times in all
          env: { NODE_COMPILE_CACHE: join(import.meta.dirname, "node_modules/.cache/node") },
          sequence: { groupOrder: 1 },
          // what a test waits for has limits of its own; this one ends a test that hangs, also on a busy machine
          ...{ testTimeout: 120_000, hookTimeout: 180_000 },
        },
      },
    ],
  },
});
