import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { manifest } from "../../../tools/shared/objects.ts";
import { useWorld } from "../../support/world.ts";
import { Page } from "../support/page.ts";
import { pluginShell } from "../support/plugin-shell.ts";

/** Does what the page says, with the command and by hand. All names are of one namespace here. */
const world = useWorld();

let shell: Awaited<ReturnType<typeof pluginShell>>;
let page: Page;
let id: string;

beforeAll(async () => {
  await world.apply(manifest("IPPolicy", "office", { description: "Office" }));
  ({ id } = (await world.ready("IPPolicy", "office")).status);
  const { namespace } = world;
  shell = await pluginShell(world, {
    substitutions: new Map([
      ["name: office\n  namespace: team-b", `name: branch\n  namespace: ${namespace}`],
      ["namespace: team-a", `namespace: ${namespace}`],
      ["team-a/office", `${namespace}/office`],
      ["team-b/office", `${namespace}/branch`],
      ["ipp_fWNEZiPdf4orD9OoCthd3tP0Xey", id],
    ]),
  });
  page = await Page.read("docs/how-to/move.md", shell);
});
afterAll(async () => {
  await shell?.[Symbol.asyncDispose]();
});

test("an object moves to another name, and so does what refers to it", async () => {
  await page.run("Move it");
  expect(await world.get("IPPolicy", "office")).toBeUndefined();
  const edge = manifest("TCPEdge", "ssh", { ipRestriction: { ipPolicyRefs: [{ name: "headquarters" }] } });
  await mkdir(join(shell.directory, "manifests"));
  await writeFile(join(shell.directory, "manifests/edge.yaml"), stringify(edge));
  await shell.run("kubectl apply -f manifests/");
  await world.ready("TCPEdge", "ssh");
  await page.run("What refers to it");
  expect(await world.get("IPPolicy", "headquarters")).toBeUndefined();
  expect((await world.ready("IPPolicy", "office")).status.id).toBe(id);
  expect(world.simulator.control.objects("ip_policies").map((policy) => policy["id"])).toEqual([id]);
});

test("an object moves by hand", async () => {
  const change = parse(page.take("Move it by hand", "yaml"));
  await world.kubectl("patch", "ippolicy", "office", "--type=merge", "-p", JSON.stringify(change));
  await world.apply(page.take("Move it by hand", "yaml"));
  expect((await world.ready("IPPolicy", "branch")).status.id).toBe(id);
  await world.delete("IPPolicy", "office", "--timeout=30s");
  expect(world.simulator.control.objects("ip_policies").map((policy) => policy["id"])).toEqual([id]);
  // run in test/integration/commands/move-to-context.test.ts, which has another cluster
  page.take("To another cluster", "console");
  expect(page.unused).toEqual([]);
});
