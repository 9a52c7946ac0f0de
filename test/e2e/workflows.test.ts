import { execFile } from "node:child_process";
import { globSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { actionlintBinary, BUILD_MS } from "../../tools/cluster/build/build.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");

test(
  "actionlint reports no problem in the workflows, nor in those of the examples",
  async () => {
    const workflows = globSync([".github/workflows/*.yaml", "examples/ci/*.yaml"], { cwd: root });
    expect(workflows).toContain("examples/ci/plan.yaml");
    // without what else a machine may happen to have installed
    const flags = ["-no-color", "-shellcheck=", "-pyflakes="];
    const { stdout } = await run(await actionlintBinary(), [...flags, ...workflows], { cwd: root }).catch(
      (error) => error,
    );
    expect(stdout).toBe("");
  },
  BUILD_MS,
);
