import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Browser, chromiumProgram, withoutChromium } from "../../tools/pictures/browser.ts";
import { useFixedServices } from "../fakes/cli/run.ts";
import { paths, type Served, serving } from "../fakes/cli/serving.ts";

/** The pages of the command `ui` in Chromium, of the account that the golden files of the commands show. */
const program = await chromiumProgram();
const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const DESK = { width: 1280, height: 900, dark: false, scripts: true };

describe.skipIf(!program)(`pages in a browser${program ? "" : `, ${withoutChromium}`}`, () => {
  useFixedServices();
  let browser: Browser;

  beforeAll(async () => {
    if (program) browser = await Browser.start(program);
  });
  afterAll(() => browser?.[Symbol.asyncDispose]());

  const open = (served: Served, path: string, look = DESK) => browser.load(new URL(path, served.address).href, look);
  const focused = () =>
    browser.evaluate("document.activeElement.getAttribute('data-key') ?? document.activeElement.name");

  test.each([false, true])("can be used by everybody, say the rules of axe; dark: %s", (dark) =>
    serving(async (served) => {
      await browser.load(served.address, DESK);
      for (const path of paths) {
        await open(served, path, { ...DESK, dark });
        await browser.evaluate(axe);
        const found = await browser.evaluate(
          "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html.slice(0, 150))]))",
        );
        expect({ path, found }).toEqual({ path, found: [] });
      }
    }),
  );

  test("fit on each screen, with and without scripts", () =>
    serving(async (served) => {
      await browser.load(served.address, DESK);
      for (const [index, path] of paths.entries())
        for (const width of [390, 1280, 1920, 2560]) {
          await open(served, path, { ...DESK, width, scripts: index % 2 === 0 });
          await expect.poll(() => browser.evaluate("document.readyState")).toBe("complete");
          const wide = await browser.evaluate("document.documentElement.scrollWidth - innerWidth");
          expect({ path, width, wide: Number(wide) > 0 }).toEqual({ path, width, wide: false });
        }
    }));

  test("can be used with the keyboard alone", () =>
    serving(async (served) => {
      await browser.load(served.address, DESK);
      await open(served, "/topology");
      await browser.press("/");
      expect(await focused()).toBe("text");
      for (let count = 0; count < 20 && !String(await focused()).includes("/"); count++) await browser.press("Tab");
      const first = String(await focused());
      expect(first).toContain("/");
      await browser.press("ArrowDown");
      const second = String(await focused());
      expect(second).not.toBe(first);
      await browser.press("Enter");
      await expect
        .poll(() => browser.evaluate("location.pathname + location.search"))
        .toContain(encodeURIComponent(second));
    }));

  test("say that their server is gone, and keep what they had", async () => {
    await serving(async (served) => {
      await browser.load(served.address, DESK);
      expect(await browser.evaluate("document.getElementById('lost').hidden")).toBe(true);
    });
    await expect
      .poll(() => browser.evaluate("document.getElementById('lost').hidden"), { timeout: 10_000 })
      .toBe(false);
    expect(await browser.evaluate("document.querySelector('h1').textContent")).toBe("Overview");
  });

  test("run no script but their own, whatever the account says", () =>
    serving(async (served) => {
      await browser.load(served.address, DESK);
      const inline =
        "document.body.append(Object.assign(document.createElement('script'), { text: 'globalThis.ran = 1' }))";
      await browser.evaluate(inline);
      expect(await browser.evaluate("globalThis.ran")).toBeUndefined();
      const loaded = await browser.evaluate(
        "performance.getEntriesByType('resource').map(({ name }) => new URL(name).origin).filter((one) => one !== location.origin)",
      );
      expect(loaded).toEqual([]);
    }));
});
