import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { annotations } from "../../../src/schema/contract.ts";
import { Browser, chromiumProgram, withoutChromium } from "../../../tools/pictures/browser.ts";
import { manifest } from "../../../tools/shared/objects.ts";
import { foreignRows, requiredObjects, sampleObjects } from "../../support/samples.ts";
import { useWorld } from "../../support/world.ts";
import { type Pages, withPages } from "./support/pages.ts";

/** The pages in Chromium, of a namespace with objects of all kinds, their operator, and the simulator. */
const program = await chromiumProgram();
const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const LOOK = { width: 1280, height: 900, dark: false, scripts: true };
const PAGES = ["/", "/topology", "/topology?as=text", "/drift", "/activity", "/certificates", "/unmanaged", "/plan"];

const TEXT = "document.querySelector('main').textContent";

describe.skipIf(!program)(`pages of all kinds in a browser${program ? "" : `, ${withoutChromium}`}`, () => {
  const world = useWorld();
  let browser: Browser;

  beforeAll(async () => {
    if (program) browser = await Browser.start(program);
    for (const { collection, row } of foreignRows) world.simulator.control.insert(collection, row);
    await world.kube.apply(...requiredObjects);
    await world.allReady(requiredObjects);
    await world.kube.apply(...sampleObjects);
    await world.allReady(sampleObjects);
  });
  afterAll(() => browser?.[Symbol.asyncDispose]());

  const opened = (work: (pages: Pages) => Promise<void>) =>
    withPages(world, async (pages) => {
      await browser.load(pages.address, LOOK);
      await work(pages);
    });
  const show = ({ address }: Pages, path: string) => browser.load(new URL(path, address).href, LOOK);

  test("each page, and that of each object, can be read, and has no value of a Secret", () =>
    opened(async (pages) => {
      const secrets = (await world.kube.list("Secret")).flatMap(({ data = {} }) => Object.values<string>(data));
      const values = secrets.map((value) => Buffer.from(value, "base64").toString()).filter(({ length }) => length > 8);
      expect(values).not.toEqual([]);
      const objects = await world.kube.all();
      const keys = objects.map(({ kind, metadata }) => `${kind}/${metadata.namespace}/${metadata.name}`);
      for (const path of [...PAGES, ...keys.map((key) => `/node?key=${encodeURIComponent(key)}`)]) {
        const answer = await pages.load(path);
        const text = await answer.text();
        expect({ path, status: answer.status }).toEqual({ path, status: 200 });
        // in HTML, a sign of a value may be written as its number
        const shown = text.replaceAll(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)));
        for (const value of values) expect(shown.includes(value), path).toBe(false);
      }
      const linked = await (await pages.load("/topology")).text();
      const missing = keys.filter((key) => !linked.includes(encodeURIComponent(key)));
      expect(missing).toEqual([]);
    }));

  test("nothing in them is wrong by the rules of axe, or wider than its window", () =>
    opened(async (pages) => {
      // one object of each kind: the parts of its page are those of all others
      const nodes = [...new Map((await world.kube.all()).map((one) => [one.kind, one])).values()].map(
        ({ kind, metadata: { namespace, name } }) => `/node?key=${encodeURIComponent(`${kind}/${namespace}/${name}`)}`,
      );
      for (const path of [...PAGES, ...nodes]) {
        await show(pages, path);
        await browser.evaluate(axe);
        const found = await browser.evaluate(
          "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html.slice(0, 150))]))",
        );
        const wide = await browser.evaluate("document.documentElement.scrollWidth > innerWidth");
        expect({ path, found, wide }).toEqual({ path, found: [], wide: false });
      }
    }));

  test("a change is seen in the page that is open: a new object, one that waits, drift, and its end", () =>
    opened(async (pages) => {
      const text = () => browser.evaluate(TEXT);
      await show(pages, "/topology?as=text");
      await world.apply(manifest("IPPolicy", "seen-live", { description: "first", driftPolicy: "Report" }));
      await expect.poll(text).toContain("seen-live");

      await show(pages, "/");
      await world.apply(manifest("TCPEdge", "waits-live", { ipRestriction: { ipPolicyRefs: [{ name: "later" }] } }));
      await expect.poll(text).toContain("waits-live");
      await world.apply(manifest("IPPolicy", "later", {}));
      await world.ready("TCPEdge", "waits-live");
      await expect.poll(text).not.toContain("waits-live");

      await show(pages, "/drift");
      const { id } = (await world.ready("IPPolicy", "seen-live")).status;
      world.simulator.control.patch(id, { description: "by somebody else" });
      // what the page has read of the account may be older
      await pages.load("/drift?read=now");
      await world.kube.annotate("IPPolicy", "seen-live", { [annotations.reconcileRequestedAt]: "now" });
      await expect.poll(text).toMatch(/seen-live.*description.*by somebody else/s);
      await world.delete("IPPolicy", "seen-live");
      await expect.poll(text).not.toContain("seen-live");
    }));

  test("what nobody manages is listed, with the manifest that adopts it", () => {
    const row = { id: "ipp_nobody", description: "made by hand", metadata: "" };
    world.simulator.control.insert("ip_policies", row);
    return opened(async (pages) => {
      await show(pages, "/unmanaged?read=now");
      expect(await browser.evaluate(TEXT)).toMatch(/ipp_nobody.*adopt/s);
    });
  });
});
