import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";

interface Job {
  needs?: string | string[];
  uses?: string;
  permissions?: Record<string, string>;
  steps?: { uses?: string; run?: string }[];
}
interface Workflow {
  on: Record<string, unknown>;
  permissions?: object;
  defaults?: { run?: { shell?: string } };
  jobs: Record<string, Job>;
}

const root = join(import.meta.dirname, "..");
const directory = join(root, ".github/workflows");
const read = (name: string): Workflow => parse(readFileSync(join(directory, name), "utf8"));
const workflows = readdirSync(directory).map((name): [string, Workflow] => [name, read(name)]);

describe.each(workflows)("%s", (_, workflow) => {
  const jobs = Object.values(workflow.jobs);
  const steps = jobs.flatMap((job) => job.steps ?? []);

  test("names each action by a commit", () => {
    const used = steps.flatMap(({ uses }) => uses ?? []);
    expect(used.filter((action) => !/@[0-9a-f]{40}$/.test(action))).toEqual([]);
  });

  test("gives each job its own rights, and none to all of them", () => {
    expect(workflow.permissions).toEqual({});
    expect(jobs.filter(({ permissions }) => permissions === undefined)).toEqual([]);
  });

  // an expression is put into the script as it is: a name that somebody else chose could be a command
  test("puts no expression into a script", () => {
    expect(steps.filter(({ run }) => run?.includes("${{"))).toEqual([]);
  });

  test("fails when a command in a pipe does", () => {
    const piped = steps.some(({ run }) => run?.replaceAll("||", "").includes("|"));
    if (piped) expect(workflow.defaults?.run?.shell).toBe("bash");
  });
});

test("a release publishes nothing before checks, tests and demo have passed on its commit", () => {
  const { jobs } = read("release.yaml");
  const [gate] = Object.entries(jobs).find(([, { uses }]) => uses === "./.github/workflows/ci.yaml") ?? [];
  const needs = (name: string): string[] => {
    const direct = [jobs[name]?.needs ?? []].flat();
    return [...direct, ...direct.flatMap(needs)];
  };
  const writing = Object.entries(jobs).filter(([, { permissions = {} }]) =>
    Object.values(permissions).includes("write"),
  );
  expect(writing.length).toBeGreaterThan(1);
  for (const [name] of writing) expect(needs(name), name).toContain(gate);
  expect(read("ci.yaml").on).toHaveProperty("workflow_call");
  expect(readFileSync(join(root, ".ci/run"), "utf8")).toMatch(/npm run check\nnpm test\nnpm run demo/);
});

test("the image is scanned with each change and every week", () => {
  for (const name of ["ci.yaml", "weekly.yaml"]) {
    const used = Object.values(read(name).jobs).flatMap(({ steps = [] }) => steps.map(({ uses = "" }) => uses));
    expect(
      used.some((action) => action.startsWith("anchore/scan-action@")),
      name,
    ).toBe(true);
  }
});

test("packages are audited with each change and every week", () => {
  for (const name of ["ci.yaml", "weekly.yaml"]) {
    const scripts = Object.values(read(name).jobs).flatMap(({ steps = [] }) => steps.map(({ run }) => run));
    expect(scripts, name).toContain(".ci/audit");
  }
});
