import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { manifest } from "../../../tools/shared/objects.ts";
import { useWorld } from "../../support/world.ts";
import { Page } from "../support/page.ts";
import { pluginShell } from "../support/plugin-shell.ts";

/** Does what the page says, and what the workflow in examples/ci does. */
const world = useWorld();

let shell: Awaited<ReturnType<typeof pluginShell>>;
let page: Page;

beforeAll(async () => {
  await world.apply(manifest("IPPolicy", "office", { description: "Office" }));
  await world.ready("IPPolicy", "office");
  shell = await pluginShell(world);
  page = await Page.read("docs/how-to/plan.md", shell);
  await page.run("Before you begin");
  world.simulator.control.clearRequests();
});
afterAll(async () => {
  await shell?.[Symbol.asyncDispose]();
});

interface Workflow {
  jobs: { plan: { steps: { name?: string; run?: string }[] } };
}

async function stepOf(name: string): Promise<string> {
  const text = await readFile(join(import.meta.dirname, "../../../examples/ci/plan.yaml"), "utf8");
  const { jobs } = parse(text) as Workflow;
  return jobs.plan.steps.find((step) => step.name === name)?.run ?? "";
}

/** Runs a step of the workflow as GitHub does, with `gh` as a tool that prints what it would post. */
async function workflow(manifests: string): Promise<string> {
  const env = {
    MANIFESTS: manifests,
    NUMBER: "7",
    GITHUB_OUTPUT: "outputs",
    RUNNER_TEMP: ".",
    GATEWAY_BASE_URL: world.simulator.url,
    GATEWAY_API_KEY: world.simulator.apiKey,
  };
  const settings = Object.entries(env).map(([name, value]) => `export ${name}='${value}'`);
  const gh = "gh() { cat comment.md; }";
  const lines = [
    ...settings,
    "rm -f outputs",
    'KUBECONFIG_TEXT="$(cat "$KUBECONFIG")"; unset KUBECONFIG',
    gh,
    await stepOf("Plan"),
    await stepOf("Comment"),
    'CODE="$(sed -n s/code=//p outputs)"',
    await stepOf("Fail if something is wrong"),
  ];
  return shell.run(lines.join("\n"));
}

test("a plan shows a change, and changes nothing", async () => {
  // the rest of the beginning is for a namespace without a policy, as in test/e2e/pages/how-tos.test.ts
  for (const language of ["console", "yaml", "console"]) page.take("Before you begin", language);
  await writeFile(join(shell.directory, "policy.yaml"), page.take("Plan a change", "yaml"));
  await page.run("Plan a change");
  expect(world.changesSent()).toEqual([]);
});

test("the workflow posts the plan, and fails when something is wrong", async () => {
  await mkdir(join(shell.directory, "deploy"));
  await shell.run("cp policy.yaml deploy/");
  const posted = await workflow("deploy/");
  expect(posted).toContain("### What this will do in the account\n```\n");
  expect(posted).toContain("Plan: 1 to update, 1 to create");
  expect(world.changesSent()).toEqual([]);
  await writeFile(join(shell.directory, "deploy/broken.yaml"), "hello");
  await expect(workflow("deploy/")).rejects.toThrow("deploy/broken.yaml:1: This is no manifest");
});

test("once it is applied there is nothing to do", async () => {
  await page.run("Apply it");
  expect(world.simulator.control.objects("edges/tcp")).toHaveLength(1);
});

test("an object is compared with the account, also after somebody has changed it there", async () => {
  const [policy] = world.simulator.control.objects("ip_policies");
  await page.run("Compare an object with the account");
  await page.run("Compare an object with the account");
  const changes = { description: "changed by hand", metadata: '{"team":"shop"}' };
  world.simulator.control.patch(String(policy?.["id"]), changes);
  await page.run("Compare an object with the account");
  await page.run("Compare an object with the account");
  expect(page.unused).toEqual([]);
});
