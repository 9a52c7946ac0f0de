import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { type KubeJSON, manifest } from "../../../tools/shared/objects.ts";
import { useWorld } from "../../support/world.ts";
import { Page } from "../support/page.ts";
import { pluginShell } from "../support/plugin-shell.ts";

/** Applies what the recipes say, one after the other in one namespace, and rotates a key. */
const world = useWorld({ process: true });

let shell: Awaited<ReturnType<typeof pluginShell>>;

beforeAll(async () => {
  shell = await pluginShell(world);
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
  await page.run("Publish HTTPS with your own certificate");
  for (const block of page.unused) {
    const heading = block.replace(" (yaml)", "");
    const objects = parseAllDocuments(page.take(heading, "yaml")).map((one) => one.toJS() as KubeJSON);
    for (const { spec } of objects) if (spec.domain) expect(taken).not.toContain(` ${spec.domain}\n`);
    await world.kube.apply(...objects);
    await world.allReady(objects);
  }
  expect(page.unused).toEqual([]);
});

// the same page as printed, on the demo: test/e2e/pages/how-tos.test.ts
test("a key is rotated, and the old one is of no use any more", async () => {
  const page = await Page.read("docs/how-to/rotate-a-key.md", shell);
  await page.run("Before you begin");
  // the shell is in a namespace already
  page.take("Before you begin", "console");
  await writeFile(join(shell.directory, "account.yaml"), page.take("Before you begin", "yaml"));
  await page.run("Before you begin");
  await writeFile(join(shell.directory, "key.yaml"), page.take("Make the new key", "yaml"));
  await page.run("Make the new key");
  await page.run("Put it in the place of the old one");
  world.simulator.control.apiKeys.revoke(world.simulator.apiKey);
  await page.run("Delete the old key");
  await world.kube.apply(manifest("IPPolicy", "after-it", {}));
  await world.ready("IPPolicy", "after-it");
  expect(page.unused).toEqual([]);
});
