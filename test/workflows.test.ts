import { globSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";

interface Job {
  needs?: string | string[];
  uses?: string;
  container?: string;
  permissions?: Record<string, string>;
  env?: Record<string, string>;
  steps?: { uses?: string; run?: string; with?: Record<string, unknown> }[];
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
  expect(readFileSync(join(root, ".ci/run"), "utf8")).toMatch(
    /npm run check\nnpm test\nnpm run demo -- --once\nnpm run test:rest\n/,
  );
});

const scriptsOf = (name: string): string[] =>
  Object.values(read(name).jobs).flatMap(({ steps = [] }) => steps.flatMap(({ run }) => run ?? []));

const actionsOf = (name: string): string[] =>
  Object.values(read(name).jobs).flatMap(({ steps = [] }) => steps.flatMap(({ uses }) => uses?.split("@")[0] ?? []));

const scanned = (name: string): string[] =>
  Object.values(read(name).jobs).flatMap(({ steps = [] }) =>
    steps.flatMap(({ with: given }) =>
      String(given?.["scan-args"] ?? "")
        .split("\n")
        .filter(Boolean),
    ),
  );

test("what the image has is scanned with each change and every week, and what it has not every week", () => {
  const scans = ["anchore/scan-action", "google/osv-scanner-action/osv-scanner-action"];
  for (const name of ["ci.yaml", "weekly.yaml"]) expect(actionsOf(name)).toEqual(expect.arrayContaining(scans));
  expect(scriptsOf("ci.yaml")).toContain(".ci/sbom .");
  expect(scanned("ci.yaml")).toEqual(["--lockfile=sbom.cdx.json"]);
  const locks = globSync("{package-lock.json,*/package-lock.json,tools/*/package-lock.json}", { cwd: root });
  expect(scanned("weekly.yaml").sort()).toEqual(locks.map((lock) => `--lockfile=${lock}`).sort());
});

test("workflows are scanned every week", () => {
  expect(actionsOf("weekly.yaml")).toContain("zizmorcore/zizmor-action");
});

test("every week all tests run in a random order, with choices that nobody has tried", () => {
  const { jobs } = read("weekly.yaml");
  expect(jobs["chance"]).toMatchObject({ env: { CHAOS_SEED: "random" } });
  expect(scriptsOf("weekly.yaml")).toContain("npm run test:all -- --sequence.shuffle.files");
});

test("every night the tests run that take too long for a change", () => {
  const { on } = read("nightly.yaml");
  expect(on).toHaveProperty("schedule");
  const projects = scriptsOf("nightly.yaml").flatMap(
    (script) => script.match(/npm run test:nightly -- --project (\w+)/)?.[1] ?? [],
  );
  const { scripts: commands } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  expect(commands["test:nightly"]).toContain("--mode nightly");
  expect(projects).toEqual(["nightly", "looks"]);
});

test("a job runs in a container only by its digest, and in that of the image", () => {
  const images = workflows.flatMap(([, { jobs }]) => Object.values(jobs).flatMap(({ container }) => container ?? []));
  const [, base] = /^ARG NODE_IMAGE=(.+)$/m.exec(readFileSync(join(root, "Dockerfile"), "utf8")) ?? [];
  expect(images).toEqual(images.map(() => base));
});

test("a release publishes with a Helm that packs the same chart each time", () => {
  const steps = read("release.yaml").jobs["publish"]?.steps ?? [];
  const built = steps.findIndex(({ run }) => run?.includes("go build -C tools/cluster/build/tools/helm"));
  expect(built).toBeGreaterThan(-1);
  expect(steps.findIndex(({ run }) => run?.includes(".ci/package"))).toBeGreaterThan(built);
});

test("packages are audited with each change, and those of development every week", () => {
  expect(scriptsOf("ci.yaml")).toContain(".ci/audit");
  expect(scriptsOf("weekly.yaml")).toContain(".ci/audit --all");
});

// anybody who may write to the cache of a branch could put something into a release
test("a release takes nothing from a cache", () => {
  const off = {
    "actions/setup-go": "cache",
    "actions/setup-node": "package-manager-cache",
    "docker/setup-buildx-action": "cache-binary",
  };
  const steps = Object.values(read("release.yaml").jobs).flatMap((job) => job.steps ?? []);
  const cached = steps.flatMap(({ uses = "", with: given }) => {
    const [action = ""] = uses.split("@");
    const option = Object.entries(off).find(([name]) => name === action)?.[1];
    if (option) return given?.[option] === false && given["cache"] !== "npm" ? [] : [action];
    return action === "actions/cache" || Object.keys(given ?? {}).some((key) => key.startsWith("cache"))
      ? [action]
      : [];
  });
  expect(cached).toEqual([]);
  for (const action of Object.keys(off)) expect(actionsOf("release.yaml")).toContain(action);
});

test("the commands are tried on the oldest Node that the package takes", () => {
  const { engines } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const steps = read("ci.yaml").jobs["oldest-node"]?.steps ?? [];
  const [oldest] = steps.flatMap(({ with: given }) => given?.["node-version"] ?? []);
  expect(engines.node).toBe(`>=${oldest}`);
  expect(steps.at(-1)?.run).toContain("node dist/kubectl-tunnelgateway.js");
});

test("a release has what the pages tell people to install", () => {
  expect(scriptsOf("release.yaml").join("\n")).toMatch(/\.ci\/plugin .*\n\s*gh release create .* release\/\*/);
  expect(scriptsOf("release.yaml")).toContain("npm publish --provenance --loglevel=notice");
  const { name } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const plan = readFileSync(join(root, "examples/ci/plan.yaml"), "utf8");
  expect(plan).toContain(`npm install --global ${name}@`);
});
