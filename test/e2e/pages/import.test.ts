import { afterAll, beforeAll, expect, test } from "vitest";
import { useWorld } from "../../support/world.ts";
import { Page } from "../support/page.ts";
import { pluginShell } from "../support/plugin-shell.ts";

/** Does what the page says, with kubectl, its plug-in and the operator on an account that somebody has made by hand. */
const world = useWorld();

let shell: Awaited<ReturnType<typeof pluginShell>>;
let page: Page;

beforeAll(async () => {
  const { control } = world.simulator;
  const policy = control.insert("ip_policies", { description: "Office" });
  control.insert("edges/tcp", { description: "SSH", ip_restriction: { ip_policy_ids: [policy["id"]] } });
  const target = { monitoring: { api_key: "a-key", service: "gateway" } };
  control.insert("event_destinations", { description: "Audit", format: "json", target });
  shell = await pluginShell(world, { substitutions: new Map([["<monitoring key>", "a-key"]]) });
  page = await Page.read("docs/how-to/import.md", shell);
});
afterAll(async () => {
  await shell?.[Symbol.asyncDispose]();
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
});

test("with its Secret an object is managed", async () => {
  await page.run("Fill in Secrets");
  await world.until("the owner mark is there", async () =>
    String(world.simulator.control.objects("event_destinations")[0]?.["metadata"]).includes("/audit"),
  );
  // The cluster has objects of other tests as well.
  expect(await page.run("Keep it in Git")).not.toContain(world.namespace);
  expect(page.unused).toEqual([]);
});
