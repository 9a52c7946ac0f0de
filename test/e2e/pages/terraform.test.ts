import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { useWorld } from "../../support/world.ts";
import { Page } from "../support/page.ts";
import { pluginShell } from "../support/plugin-shell.ts";

/** Does what the page says, with the state of an account that Terraform has made. */
const world = useWorld({ process: true });

let shell: Awaited<ReturnType<typeof pluginShell>>;
let page: Page;

beforeAll(async () => {
  const { control } = world.simulator;
  const policy = control.insert("ip_policies", { description: "Office" });
  const edge = control.insert("edges/tcp", { ip_restriction: { ip_policy_ids: [policy["id"]] } });
  control.insert("ip_policies", { description: "Made by hand" });
  shell = await pluginShell(world);
  const resource = (type: string, name: string, id: unknown, more: object = {}) => ({
    mode: "managed",
    type,
    name,
    ...more,
    instances: [{ attributes: { id } }],
  });
  const state = {
    version: 4,
    resources: [
      resource("gateway_ip_policy", "office", policy["id"]),
      resource("gateway_tcp_edge", "ssh", edge["id"], { module: "module.bastion" }),
      resource("random_pet", "name", "happy-panda"),
    ],
  };
  await writeFile(join(shell.directory, "state.json"), JSON.stringify(state));
  page = await Page.read("docs/how-to/terraform.md", shell);
  control.clearRequests();
});
afterAll(async () => {
  await shell?.[Symbol.asyncDispose]();
});

test("what Terraform manages comes under management, and only owner marks are sent", async () => {
  await page.run("Write the manifests");
  await page.run("Let Terraform forget");
  expect(world.changesSent()).toEqual([]);
  await page.run("Apply them");
  expect(page.unused).toEqual([]);
  expect(world.changesSent().map(({ method }) => method)).toEqual(["PATCH", "PATCH"]);
});
