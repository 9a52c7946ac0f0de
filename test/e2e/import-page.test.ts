import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { OPERATOR } from "../../tools/shared/operator.ts";
import { useWorld } from "../support/world.ts";
import { Desk, Page } from "./support/page.ts";

/** Does what the page says, with kubectl, its plug-in and the operator on an account that somebody has made by hand. */
const world = useWorld();

let directory: string;
let desk: Desk;
let page: Page;

async function tool(name: string, content: string): Promise<void> {
  const path = join(directory, "bin", name);
  await writeFile(path, content);
  await chmod(path, 0o755);
}

beforeAll(async () => {
  const { control } = world.simulator;
  const policy = control.insert("ip_policies", { description: "Office" });
  control.insert("edges/tcp", { description: "SSH", ip_restriction: { ip_policy_ids: [policy["id"]] } });
  const target = { monitoring: { api_key: "a-key", service: "gateway" } };
  control.insert("event_destinations", { description: "Audit", format: "json", target });

  directory = await mkdtemp(join(tmpdir(), "import-page-"));
  await mkdir(join(directory, "bin"));
  await tool("kubectl", `#!/bin/sh\nexec ${world.cluster.kubectl} "$@"\n`);
  // as npm installs it: a link of this name that leads to the program
  await symlink(OPERATOR, join(directory, "kubectl-tunnelgateway"));
  await tool("kubectl-tunnelgateway", `#!/bin/sh\nexec ${process.execPath} ${directory}/kubectl-tunnelgateway "$@"\n`);
  await writeFile(join(directory, ".gateway-api-key"), world.simulator.apiKey);
  const kubeconfig = join(directory, "kubeconfig");
  await world.cluster
    .kubectlRun(["config", "view", "--raw", "--flatten"])
    .then(({ stdout }) => writeFile(kubeconfig, stdout));
  const env = { PATH: `${join(directory, "bin")}:${process.env["PATH"]}`, HOME: directory, KUBECONFIG: kubeconfig };
  desk = new Desk(directory, {
    env,
    substitutions: new Map([
      ["https://api.gateway.example", world.simulator.url],
      ["<monitoring key>", "a-key"],
      ["orders", world.namespace],
    ]),
  });
  await desk.run(`kubectl config set-context --current --namespace=${world.namespace}`);
  page = await Page.read("docs/how-to/import.md", desk);
});
afterAll(async () => {
  desk?.leave();
  if (directory) await rm(directory, { recursive: true });
});

test("the manifests are written, and the account is not changed", async () => {
  world.simulator.control.clearRequests();
  await page.run("Write the manifests");
  await page.run("Look at them");
  expect(world.changesSent()).toEqual([]);
});

test("applied, they send nothing but owner marks", async () => {
  await page.run("Apply them");
  expect(world.changesSent().map(({ method }) => method)).toEqual(["PATCH", "PATCH"]);
}, 120_000);

test("with its Secret an object is managed", async () => {
  await page.run("Fill in Secrets");
  await world.until("the owner mark is there", async () =>
    String(world.simulator.control.objects("event_destinations")[0]?.["metadata"]).includes("/audit"),
  );
  // The cluster has objects of other tests as well.
  expect(await page.run("Keep it in Git")).not.toContain(world.namespace);
  expect(page.unused).toEqual([]);
}, 120_000);
