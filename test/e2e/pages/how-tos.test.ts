import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { parse } from "yaml";
import { makeByHand } from "../../../tools/demo/by-hand.ts";
import { Child } from "../../../tools/shared/child.ts";
import { connectControl, type RemoteControl } from "../../../tools/simulator/control/connect.ts";
import { Page, Shell } from "../support/page.ts";

/** Follows the how-tos on the demo, as they are printed: each on a demo as it starts. */
const DEMO = join(import.meta.dirname, "../../../tools/demo/main.ts");
const BY_HAND = ["edgtcp_2nVhQthWfxrVVXty9v8qQqC6n0f8", "ed_2dT7hBvUaX1CkQzWmJr5sN0yGfE"] as const;
const OFFICE = "ipp_2leg4kyX69U6IswsdjKIohVXiFIz";

let demo: Child;
let control: RemoteControl;
let directory: string;
let shell: Shell;
/** Where the log of requests ended before the page. */
let seen = 0;

beforeAll(async () => {
  // with a cluster of its own, which is removed as a whole at the end
  const { TEST_KUBECONFIG: _, ...env } = process.env;
  demo = new Child(DEMO, { env, args: [] });
  await demo.said("Stays until Ctrl-C");
});
afterAll(async () => {
  demo?.signal("SIGINT");
  await demo?.exited();
});

beforeEach(async () => {
  shell?.leave();
  directory = await mkdtemp(join(tmpdir(), "how-to-"));
  const { PATH = "", NODE_COMPILE_CACHE = "" } = process.env;
  const substitutions = new Map([["<monitoring key>", "a-key"]]);
  shell = new Shell(directory, { env: { PATH, HOME: directory, NODE_COMPILE_CACHE }, substitutions });
  const exports = demo.lines.map((line) => line.trim()).filter((line) => line.startsWith("export "));
  for (const line of exports) await shell.run(line);
  const [, url = ""] = /GATEWAY_BASE_URL=(.*)/.exec(exports.join("\n")) ?? [];
  control = connectControl(url);
  await shell.run(
    "kubectl delete namespace orders legacy attics stores places rotation --ignore-not-found --timeout=60s",
  );
  for (const id of [...BY_HAND, OFFICE]) await control.remove(id).catch(() => undefined);
  await makeByHand(control);
  seen = (await control.requests()).at(-1)?.seq ?? 0;
  return async () => rm(directory, { recursive: true });
});

const writes = async (): Promise<string[]> =>
  (await control.requests({ after: seen })).map(({ method }) => method).filter((method) => method !== "GET");

/** A page, in the namespace that it chooses. Which account is meant, the demo has said. */
async function begun(page: Page): Promise<Page> {
  expect(page.take("Before you begin", "console")).toContain("export GATEWAY_");
  await page.run("Before you begin");
  return page;
}

/** What is shown of the demo is what the command prints, without the column of ids, which no terminal has room for. */
async function expectTree(page: Page, heading: string): Promise<void> {
  const [command = "", ...shown] = page.take(heading, "console").trimEnd().split("\n");
  const printed = (await shell.run(command.replace("$ ", ""))).trimEnd().split("\n");
  expect(shown).toEqual(printed.map((line) => line.replace(/ +(ID|[a-z]+_\w+)$/, "")));
}

test("the terminal that the README and the page of screens show", async () => {
  await expectTree(await Page.read("README.md", shell), "tunnel-gateway-operator");
  const screens = await Page.read("docs/screens.md", shell);
  await expectTree(screens, "In a terminal");
  // compared with what tests of commands keep, in test/docs.test.ts
  for (const name of ["status", "why", "plan"]) {
    expect(screens.take("In a terminal", "console")).toContain(`$ kubectl tunnelgateway ${name}`);
  }
  expect(screens.unused).toEqual([]);
});

test("bring an existing account under management", async () => {
  const page = await begun(await Page.read("docs/how-to/import.md", shell));
  await page.run("Write the manifests");
  await page.run("Look at them");
  expect(await writes()).toEqual([]);
  await page.run("Apply them");
  // owner marks
  expect(await writes()).toEqual(["PATCH", "PATCH"]);
  await page.run("Fill in Secrets");
  await page.run("Keep it in Git");
  expect(page.unused).toEqual([]);
});

test("leave Terraform", async () => {
  const page = await begun(await Page.read("docs/how-to/terraform.md", shell));
  await writeFile(join(directory, "state.json"), page.take("Write the manifests", "json"));
  await page.run("Write the manifests");
  await page.run("Let Terraform forget");
  expect(await writes()).toEqual([]);
  await page.run("Apply them");
  expect(page.unused).toEqual([]);
  expect(await writes()).toEqual(["PATCH", "PATCH"]);
});

test("find what nobody manages", async () => {
  const page = await begun(await Page.read("docs/how-to/orphans.md", shell));
  await writeFile(join(directory, "former.yaml"), page.take("Before you begin", "yaml"));
  await page.run("Before you begin");
  await page.run("List it");
  await page.run("Take it over");
  await page.run("Delete it");
  expect(await Promise.all(BY_HAND.map((id) => control.get(id)))).toEqual([null, null]);
  expect(page.unused).toEqual([]);
});

test("see a change before it happens", async () => {
  const page = await begun(await Page.read("docs/how-to/plan.md", shell));
  await writeFile(join(directory, "office.yaml"), page.take("Before you begin", "yaml"));
  await page.run("Before you begin");
  await writeFile(join(directory, "policy.yaml"), page.take("Plan a change", "yaml"));
  await page.run("Plan a change");
  await page.run("Apply it");
  await page.run("Compare an object with the account");
  await page.run("Compare an object with the account");
  const id = (await shell.run("kubectl get ippolicy office -o jsonpath={.status.id}")).trim();
  await control.patch(id, { description: "changed by hand", metadata: '{"team":"shop"}' });
  await page.run("Compare an object with the account");
  await page.run("Compare an object with the account");
  expect(page.unused).toEqual([]);
});

test("move a resource to another object", async () => {
  const page = await begun(await Page.read("docs/how-to/move.md", shell));
  await mkdir(join(directory, "manifests"));
  for (const name of ["office", "edge"]) {
    await writeFile(join(directory, `manifests/${name}.yaml`), page.take("Before you begin", "yaml"));
  }
  await page.run("Before you begin");
  const policies = async () => (await control.objects("ip_policies")).map(({ id }) => id);
  const before = await policies();
  await page.run("Move it");
  await page.run("What refers to it");
  expect(await policies()).toEqual(before);

  // the same by hand, between the namespaces of the page
  const change = parse(page.take("Move it by hand", "yaml"));
  await shell.run("kubectl create namespace team-a; kubectl create namespace team-b");
  await shell.run("sed -i '/namespace/d' manifests/office.yaml; kubectl apply -n team-a -f manifests/office.yaml");
  await shell.run("kubectl wait -n team-a --for=condition=Ready ippolicy/office --timeout=60s");
  const id = (await shell.run("kubectl get -n team-a ippolicy office -o jsonpath={.status.id}")).trim();
  await shell.run(`kubectl patch -n team-a ippolicy office --type=merge -p '${JSON.stringify(change)}'`);
  const moved = page.take("Move it by hand", "yaml").replace("ipp_fWNEZiPdf4orD9OoCthd3tP0Xey", id);
  await writeFile(join(directory, "moved.yaml"), moved);
  await shell.run("kubectl apply -f moved.yaml; kubectl wait --for=condition=Ready --timeout=60s -f moved.yaml");
  await shell.run("kubectl delete -n team-a ippolicy office --timeout=60s");
  expect(await control.get(id)).not.toBeNull();
  // run in test/integration/commands/move-to-context.test.ts, which has another cluster
  page.take("To another cluster", "console");
  expect(page.unused).toEqual([]);
});

test("rotate an API key", async () => {
  const page = await begun(await Page.read("docs/how-to/rotate-a-key.md", shell));
  await writeFile(join(directory, "account.yaml"), page.take("Before you begin", "yaml"));
  await page.run("Before you begin");
  await writeFile(join(directory, "key.yaml"), page.take("Make the new key", "yaml"));
  await page.run("Make the new key");
  await page.run("Put it in the place of the old one");
  await page.run("Delete the old key");
  expect(page.unused).toEqual([]);
});
