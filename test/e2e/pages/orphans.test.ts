import { afterAll, beforeAll, expect, test } from "vitest";
import { manifest } from "../../../tools/shared/objects.ts";
import { useWorld } from "../../support/world.ts";
import { Page } from "../support/page.ts";
import { pluginShell } from "../support/plugin-shell.ts";

/** Does what the page says, in an account with a remote that was left behind and one that a person has made. */
const world = useWorld();

let shell: Awaited<ReturnType<typeof pluginShell>>;
let page: Page;

beforeAll(async () => {
  await world.apply(manifest("IPPolicy", "former", { description: "Office", deletionPolicy: "Retain" }));
  const former = await world.ready("IPPolicy", "former");
  await world.delete("IPPolicy", "former");
  const edge = String(world.simulator.control.insert("edges/tcp", { description: "By hand" })["id"]);
  shell = await pluginShell(world, {
    substitutions: new Map([
      ["edgtcp_2nVhQthWfxrVVXty9v8qQqC6n0f8", edge],
      ["ipp_2leg4kyX69U6IswsdjKIohVXiFIz", former.status.id],
    ]),
  });
  page = await Page.read("docs/how-to/orphans.md", shell);
});
afterAll(async () => {
  await shell?.[Symbol.asyncDispose]();
});

test("remotes that nobody manages are listed, adopted and deleted", async () => {
  await page.run("List it");
  await page.run("Take it over");
  await page.run("Delete it");
  expect(page.unused).toEqual([]);
  expect(world.simulator.control.objects("edges/tcp").filter(({ description }) => description === "By hand")).toEqual(
    [],
  );
});
