import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { pinnedTool, type ToolName, tools, versionIn } from "./tools.ts";

const names = Object.keys(tools) as ToolName[];

describe.each(names)("%s", (name) => {
  test("builds only what its go.mod lists as a tool, at a released version", async () => {
    const tool = await pinnedTool(name);
    const goMod = await readFile(join(tool.moduleDirectory, "go.mod"), "utf8");
    const lines = goMod.split("\n").map((line) => line.replace(/^tool /, "").trim());
    expect(lines).toEqual(expect.arrayContaining(Object.values(tool.binaries)));
    expect(tool.version).toMatch(/^v\d+\.\d+\.\d+$/);
  });
});

test("the version is told to Kubernetes, which else calls itself v0.0.0", async () => {
  const { ldflags, version } = await pinnedTool("kubernetes");
  expect(ldflags).toContain(`version.gitVersion=${version} `);
  expect(ldflags).toContain("version.gitMajor=1 ");
});

test("every staging module is the release that belongs to the version", async () => {
  const { moduleDirectory, version } = await pinnedTool("kubernetes");
  const goMod = await readFile(join(moduleDirectory, "go.mod"), "utf8");
  const replaced = [...goMod.matchAll(/=> k8s\.io\/[a-z-]+ (v\S+)$/gm)].map(([, release]) => release);
  expect(replaced.length).toBeGreaterThan(20);
  expect(new Set(replaced)).toEqual(new Set([version.replace("v1.", "v0.")]));
});

const versions = [
  { why: "in a block", goMod: "require (\n\tk8s.io/kubernetes v1.35.4\n)", version: "v1.35.4" },
  { why: "on a line of its own", goMod: "require k8s.io/kubernetes v1.35.4", version: "v1.35.4" },
  { why: "with a comment", goMod: "\tk8s.io/kubernetes v1.35.4 // indirect", version: "v1.35.4" },
  {
    why: "beside longer names",
    goMod: "\tk8s.io/kubernetes/x v1.0.0\n\tk8s.io/kubernetes v1.35.4",
    version: "v1.35.4",
  },
];

test.each(versions)("a version is found $why", ({ goMod, version }) => {
  expect(versionIn(goMod, "k8s.io/kubernetes")).toBe(version);
});

test("a module that is not required is an error", () => {
  expect(() => versionIn("require other v1.0.0", "k8s.io/kubernetes")).toThrow("k8s.io/kubernetes");
});
