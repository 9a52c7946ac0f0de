import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { Browser, chromiumProgram, withoutChromium } from "../../tools/pictures/browser.ts";
import { useFixedServices } from "../fakes/cli/run.ts";
import { paths, type Served, serving } from "../fakes/cli/serving.ts";

/** The pages of the command `ui` in Chromium, of the account that the golden files of the commands show. */
const program = await chromiumProgram();
const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const DESK = { width: 1280, height: 900, dark: false, scripts: true };

describe.skipIf(!program)(`pages in a browser${program ? "" : `, ${withoutChromium}`}`, () => {
  const { failing } = useFixedServices();
  let browser: Browser;

  beforeAll(async () => {
    if (program) browser = await Browser.start(program);
  });
  afterAll(() => browser?.[Symbol.asyncDispose]());

  const open = (served: Served, path: string, look = DESK) => browser.load(new URL(path, served.address).href, look);
  const focused = () => browser.evaluate("document.activeElement.getAttribute('href') ?? document.activeElement.name");

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
        for (const width of [390, 1920]) {
          await open(served, path, { ...DESK, width, scripts: index % 2 === 0 });
          await expect.poll(() => browser.evaluate("document.readyState")).toBe("complete");
          const wide = await browser.evaluate("document.documentElement.scrollWidth - innerWidth");
          expect({ path, width, wide: Number(wide) > 0 }).toEqual({ path, width, wide: false });
        }
    }));

  test("are printed in light colours, whole, and without what only a screen can do", () =>
    serving(async (served) => {
      const paper = { width: 794, height: 1123, dark: true, scripts: true, isPrinted: true };
      await browser.load(served.address, paper);
      for (const path of ["/", "/topology", "/topology?as=text", "/unmanaged", "/node?key=TCPEdge%2Fshop%2Frefused"]) {
        await open(served, path, paper);
        const seen = await browser.evaluate(`(() => {
          const isWide = (one) => one.scrollWidth > one.clientWidth && getComputedStyle(one).overflow !== "visible";
          const isShown = (one) => one.offsetParent !== null;
          return {
            background: getComputedStyle(document.body).backgroundColor,
            wide: document.documentElement.scrollWidth > innerWidth,
            cut: [...document.querySelectorAll(".canvas, pre, .scroll")].filter(isWide).map((one) => one.className),
            shown: [...document.querySelectorAll("header nav, .copy, .zoom, .filter, #lost")].filter(isShown).length,
          };
        })()`);
        const background = "rgb(255, 255, 255)";
        expect({ path, seen }).toEqual({ path, seen: { background, wide: false, cut: [], shown: 0 } });
      }
    }));

  test("can be used with the keyboard alone", () =>
    serving(async (served) => {
      await browser.load(served.address, DESK);
      await open(served, "/topology");
      await browser.press("/");
      expect(await focused()).toBe("text");
      for (let count = 0; count < 20 && !String(await focused()).includes("/node?"); count++)
        await browser.press("Tab");
      const first = String(await focused());
      expect(first).toContain("/node?");
      await browser.press("ArrowDown");
      const second = String(await focused());
      expect(second).not.toBe(first);
      await browser.press("Enter");
      await expect.poll(() => browser.evaluate("location.pathname + location.search")).toContain(second);
    }));

  test("plan a folder that is dropped, with all folders in it, and files", async () => {
    const folder = await mkdtemp(join(tmpdir(), "dropped-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const edge = (name: string) =>
      `apiVersion: tunnelgateway.dev/v1\nkind: TCPEdge\nmetadata: {name: ${name}}\nspec: {}\n`;
    const files = { "shop/a.yaml": edge("first"), "shop/deep/er/b.yml": edge("second"), "shop/README.md": "# a: [" };
    for (const [name, text] of Object.entries({ ...files, "shop/deep/c.json": "{", "one.txt": edge("third") })) {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await writeFile(join(folder, name), text);
    }
    await writeFile(join(folder, "large.yaml"), "#".repeat(10_000_000));
    await serving(async (served) => {
      await browser.load(served.address, DESK);
      await open(served, "/plan");
      const [text, isRefused] = ["document.body.textContent", "!document.querySelector('form [role=alert]').hidden"];
      expect(await browser.evaluate(isRefused)).toBe(false);
      await browser.drop([join(folder, "large.yaml")], "form.drop");
      await expect.poll(() => browser.evaluate(isRefused)).toBe(true);
      const chosen = `new File([${JSON.stringify(edge("before"))}], "before.yaml")`;
      const choose = `const all = new DataTransfer(); all.items.add(${chosen}); document.querySelector("#folder").files = all.files`;
      await browser.evaluate(`{ ${choose} }`);
      await browser.drop([join(folder, "shop"), join(folder, "one.txt")], "form.drop");
      await expect.poll(() => browser.evaluate(text)).toContain("TCPEdge shop/third");
      const planned = String(await browser.evaluate(text));
      for (const name of ["first", "second"]) expect(planned).toContain(`TCPEdge shop/${name}`);
      expect(planned).toContain("shop/deep/c.json:1: Correct");
      for (const other of ["README", "shop/before"]) expect(planned).not.toContain(other);
    });
  });

  test("say that their server is gone, and keep what they had", async () => {
    await serving(async (served) => {
      await browser.load(served.address, DESK);
      expect(await browser.evaluate("document.getElementById('lost').hidden")).toBe(true);
    });
    await expect.poll(() => browser.evaluate("document.getElementById('lost').hidden")).toBe(false);
    expect(await browser.evaluate("document.querySelector('h1').textContent")).toBe("Overview");
  });

  test("are live again when their server is there again", async () => {
    const [text, isLost] = ["document.body.textContent", "!document.getElementById('lost').hidden"];
    let port = "0";
    await serving(async (served) => {
      port = new URL(served.address).port;
      await browser.load(served.address, DESK);
    });
    await expect.poll(() => browser.evaluate(isLost)).toBe(true);
    const body = { kind: "Status", code: 403, reason: "Forbidden", message: "no" };
    failing(({ path }) => (path.endsWith("/tcpedges") ? { status: 403, body } : undefined));
    await serving(
      async ({ address }) => {
        // the person opens its new address in another tab, which has the same cookies
        await expect.poll(() => browser.evaluate(text)).toContain("has been started again");
        await browser.evaluate(`fetch(${JSON.stringify(address)})`);
        await expect.poll(() => browser.evaluate(isLost)).toBe(false);
        await expect.poll(() => browser.evaluate(text)).toContain("This is only a part");
      },
      { port },
    );
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
