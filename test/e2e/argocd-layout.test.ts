import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { customResources } from "../../src/kinds/index.ts";
import type { KubeJSON } from "../../tools/shared/objects.ts";
import { judge, sentByArgo } from "./support/verdict.ts";

/**
 * What `npm run argocd` writes is run as the tests of Argo CD run it: they look for a script by group and kind of the
 * object, and then for one in a folder whose name has `_` for any text. Actions are looked for by group and kind only.
 */

let root: string;
let files: string[];

beforeAll(async () => {
  const out = await mkdtemp(join(tmpdir(), "argocd-"));
  root = join(out, "resource_customizations");
  await run("--out", out);
  files = (await readdir(root, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
});
afterAll(() => rm(dirname(root), { recursive: true }));

const main = join(import.meta.dirname, "../../tools/argocd/main.ts");
const run = (...args: string[]) => promisify(execFile)(process.execPath, [main, ...args]);

const textOf = (file: string): Promise<string> => readFile(join(root, file), "utf8");
const yamlOf = async (file: string): Promise<KubeJSON> => parse(await textOf(file));

/** The text of the script for this object, and an error when there is none. */
async function scriptFor({ apiVersion, kind }: KubeJSON, name: string, { wildcard = false } = {}): Promise<string> {
  const [group] = apiVersion.split("/");
  const own = join(group, kind, name);
  return textOf(wildcard && !files.includes(own) ? join(group, "_", name) : own);
}

async function outcomeOf(object: KubeJSON, script: string): Promise<KubeJSON> {
  const [verdict] = await judge([object], { script });
  const { value, error } = verdict?.scripts["script"] ?? {};
  expect(error).toBeUndefined();
  return value as KubeJSON;
}

const named = (name: string) => files.filter((file) => file.endsWith(`/${name}`));

test("the health of each object is as its test says, and each state is there", async () => {
  const [file = "", ...others] = named("health_test.yaml");
  expect(others).toEqual([]);
  const { tests } = await yamlOf(file);
  for (const { inputPath, healthStatus } of tests) {
    const object = await yamlOf(join(dirname(file), inputPath));
    const script = await scriptFor(object, "health.lua", { wildcard: true });
    expect({ inputPath, ...(await outcomeOf(object, script)) }).toEqual({ inputPath, ...healthStatus });
  }
  const states = tests.map(({ healthStatus }: KubeJSON) => healthStatus.status);
  expect(new Set(states)).toEqual(new Set(["Progressing", "Healthy", "Degraded", "Suspended"]));
  const objects = files.filter((one) => one.startsWith(join(dirname(file), "testdata")));
  expect(objects).toHaveLength(tests.length);
});

describe("the actions", () => {
  test("are there for each kind that is in an application", () => {
    const made = customResources.map(({ kind }) => kind).filter((kind) => kind !== "TunnelSession");
    const kinds = named("action_test.yaml").map((file) => file.split("/")[1]);
    expect(kinds.sort()).toEqual(made.sort());
  });

  test("are offered and do as their tests say", async () => {
    for (const file of named("action_test.yaml")) {
      const folder = dirname(file);
      const { discoveryTests, actionTests = [] } = await yamlOf(file);
      for (const { inputPath, result } of discoveryTests) {
        const object = await yamlOf(join(folder, inputPath));
        const offered = await outcomeOf(object, await scriptFor(object, "actions/discovery.lua"));
        const expected = result.map(({ name, ...one }: KubeJSON) => [name, one]);
        expect({ file, inputPath, offered }).toEqual({ file, inputPath, offered: Object.fromEntries(expected) });
        for (const name of Object.keys(offered)) expect(files).toContain(join(folder, name, "action.lua"));
      }
      for (const { action, inputPath, expectedOutputPath } of actionTests) {
        const object = await yamlOf(join(folder, inputPath));
        const returned = await outcomeOf(object, await scriptFor(object, `actions/${action}/action.lua`));
        expect(sentByArgo(returned, object)).toEqual(await yamlOf(join(folder, expectedOutputPath)));
      }
    }
  });
});

test("without a folder nothing is written", async () => {
  const stderr = expect.stringContaining("--out names the folder to write into");
  await expect(run()).rejects.toMatchObject({ code: 2, stderr });
});
