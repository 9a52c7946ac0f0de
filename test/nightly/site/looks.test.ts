import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { promisify } from "node:util";
import pixelmatch from "pixelmatch";
import { PNG } from "pngjs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addressOf, allPages } from "../../../site/.vitepress/contents.ts";
import { Browser, chromiumProgram, type Look, withoutChromium } from "../../../tools/pictures/browser.ts";

/**
 * Looks at the site in Chromium, on a phone and on a desk. `LOOKS=write npm run test:nightly -- looks` takes the pictures
 * anew: look at each of them before you commit it.
 */
const root = join(import.meta.dirname, "../../..");
const built = join(root, "site/.vitepress/dist");
const kept = join(import.meta.dirname, "looks");
const found = join(root, "site/.vitepress/looks");
const writes = process.env["LOOKS"] === "write";

const PHONE = { width: 390, height: 844, dark: false, scripts: true };
const DESK = { width: 1280, height: 800, dark: false, scripts: true };

/** Part of the pixels that may differ: letters are drawn a little differently by each Chromium. */
const TOLERANCE = 0.005;

const looks: readonly [name: string, page: string, look: Look][] = [
  ["first-page-phone", "docs/README.md", PHONE],
  ["first-page-desk-dark", "docs/README.md", { ...DESK, dark: true }],
  ["install-phone-dark", "docs/install.md", { ...PHONE, dark: true }],
  ["reference-desk", "docs/reference/ip-policy.md", DESK],
  ["reference-phone-without-scripts", "docs/reference/ip-policy.md", { ...PHONE, scripts: false }],
  ["concepts-desk-without-scripts", "docs/concepts/ownership.md", { ...DESK, scripts: false }],
];

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
};

/** The letters of the site in place of those that the machine happens to have. */
const SAME_LETTERS = "<style>:root { --vp-font-family-mono: var(--vp-font-family-base) !important }</style>";

const program = await chromiumProgram();
let server: Server;
let address: string;
let browser: Browser;

beforeAll(async () => {
  if (!program) return;
  await promisify(execFile)("npm", ["run", "docs"], { cwd: root, maxBuffer: 2 ** 26 });
  server = createServer(async ({ url = "" }, response) => {
    const path = decodeURI(new URL(url, "http://site").pathname).replace(/\/$/, "/index.html");
    try {
      const content = await readFile(join(built, path));
      response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "application/octet-stream" });
      response.end(path.endsWith(".html") ? String(content).replace("</head>", `${SAME_LETTERS}</head>`) : content);
    } catch {
      response.writeHead(404).end();
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  browser = await Browser.start(program);
}, 600_000);
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]();
  server?.close();
});

const show = (page: string, look: Look) => browser.load(`${address}/${addressOf(page).replace(/md$/, "html")}`, look);

describe.skipIf(!program)(`in a browser${program ? "" : ` (${withoutChromium})`}`, () => {
  test.each(looks)("%s looks as it did", async (name, page, look) => {
    await show(page, look);
    const picture = await browser.picture();
    const file = join(kept, `${name}.png`);
    if (writes) await writeFile(file, picture);
    const { part, difference } = compare(PNG.sync.read(await readFile(file)), PNG.sync.read(picture));
    if (part > TOLERANCE) {
      await mkdir(found, { recursive: true });
      await writeFile(join(found, `${name}.png`), picture);
      await writeFile(join(found, `${name}-difference.png`), PNG.sync.write(difference));
    }
    expect(part, `see ${found}`).toBeLessThanOrEqual(TOLERANCE);
  });

  test("a picture of another page is not taken for the same", async () => {
    await show("docs/glossary.md", PHONE);
    const other = PNG.sync.read(await browser.picture());
    const { part } = compare(PNG.sync.read(await readFile(join(kept, "first-page-phone.png"))), other);
    expect(part).toBeGreaterThan(TOLERANCE);
  });

  test.each([true, false])(
    "no page is wider than a phone (with scripts: %s)",
    async (scripts) => {
      const wide: string[] = [];
      for (const page of allPages()) {
        await show(page, { ...PHONE, scripts });
        const width = Number(await browser.evaluate("document.scrollingElement.scrollWidth"));
        if (width > PHONE.width) wide.push(`${page}: ${width}`);
      }
      expect(wide).toEqual([]);
    },
    300_000,
  );

  test.each([DESK, { ...DESK, width: 1920 }])(
    "on a desk of $width pixels no table and no message is cut",
    async (look) => {
      const cut: string[] = [];
      for (const page of allPages()) {
        await show(page, look);
        const inside = ".vp-doc table, .vp-doc:not(._commands) .language-text pre";
        const wide = `[...document.querySelectorAll("${inside}")].filter((one) => one.scrollWidth > one.clientWidth + 1).length`;
        const count = Number(await browser.evaluate(wide));
        if (count > 0) cut.push(`${page}: ${count}`);
      }
      expect(cut).toEqual([]);
    },
    300_000,
  );

  test("the search finds a page", async () => {
    await show("docs/README.md", DESK);
    await browser.evaluate("document.querySelector('.VPNavBarSearch button').click()");
    const field = "document.querySelector('.VPLocalSearchBox input')";
    await expect.poll(() => browser.evaluate(`!!${field}`)).toBe(true);
    await browser.evaluate(`(${field}.value = 'OwnershipConflict', ${field}.dispatchEvent(new Event('input')))`);
    const results = "[...document.querySelectorAll('.VPLocalSearchBox .result')].map((one) => one.href).join()";
    await expect.poll(() => browser.evaluate(results)).toContain("troubleshooting");
  });
});

/** The part of the pixels that differ, and a picture of them. Pictures of different sizes differ in all. */
function compare(one: PNG, other: PNG): { part: number; difference: PNG } {
  const { width, height } = one;
  const difference = new PNG({ width, height });
  if (other.width !== width || other.height !== height) return { part: 1, difference: other };
  const pixels = pixelmatch(one.data, other.data, difference.data, width, height, { threshold: 0.2 });
  return { part: pixels / (width * height), difference };
}
