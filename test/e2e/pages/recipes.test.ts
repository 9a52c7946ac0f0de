import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { type KubeJSON, manifest } from "../../../tools/shared/objects.ts";
import { secret, tlsSecret } from "../../support/samples.ts";
import { useWorld } from "../../support/world.ts";
import { Page } from "../support/page.ts";
import { pluginShell } from "../support/plugin-shell.ts";

/** Applies what the recipes say, one after the other in one namespace, and rotates a key. */
const world = useWorld({ process: true });

let shell: Awaited<ReturnType<typeof pluginShell>>;

beforeAll(async () => {
  const domain = "store.example.com";
  await world.kube.apply(tlsSecret("store-tls", { commonName: domain, dnsNames: [domain] }));
  shell = await pluginShell(world, { substitutions: new Map([["<new API key>", "the-next-key"]]) });
});
afterAll(async () => {
  await shell?.[Symbol.asyncDispose]();
});

/** What the demo has already belongs to its objects. */
async function takenOnDemo(): Promise<string> {
  const folder = join(import.meta.dirname, "../../../examples");
  const files = (await readdir(folder)).filter((name) => name.endsWith(".yaml"));
  return (await Promise.all(files.map((name) => readFile(join(folder, name), "utf8")))).join("\n");
}

test("each recipe becomes Ready, also on the demo", async () => {
  const taken = await takenOnDemo();
  const page = await Page.read("docs/how-to/recipes.md", shell);
  for (const block of page.unused) {
    const heading = block.replace(" (yaml)", "");
    const objects = parseAllDocuments(page.take(heading, "yaml")).map((one) => one.toJS() as KubeJSON);
    for (const { spec } of objects) if (spec.domain) expect(taken).not.toContain(` ${spec.domain}\n`);
    await world.kube.apply(...objects);
    await world.allReady(objects);
  }
  expect(page.unused).toEqual([]);
});

test("a key is rotated, and the old one is of no use any more", async () => {
  const page = await Page.read("docs/how-to/rotate-a-key.md", shell);
  const { apiKeys } = world.simulator.control;
  apiKeys.accept("the-first-key");
  const account = manifest("GatewayAccount", "default", { apiKeySecretRef: { name: "gateway-account", key: "key" } });
  await world.kube.apply(secret("gateway-account", { key: "the-first-key" }), account);
  await world.ready("GatewayAccount", "default");
  apiKeys.accept("the-next-key");
  await page.run("The key of a GatewayAccount");
  apiKeys.revoke("the-first-key");
  await world.kube.apply(manifest("IPPolicy", "after-it", {}));
  await world.ready("IPPolicy", "after-it");
  expect(page.unused).toEqual([]);
});
