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
const WIDE = { width: 1920, height: 900, dark: false, scripts: true };

/** Part of the pixels that may differ: letters are drawn a little differently by each Chromium. */
const TOLERANCE = 0.005;

/** What is looked at in each width. Of a reference, the part with fields of fields. */
const places = [
  ["first-page", "docs/README.md"],
  ["reference", "docs/reference/tls-edge.md#specbackend"],
  ["troubleshooting", "docs/troubleshooting.md"],
] as const;
const widths = [
  ["phone", PHONE],
  ["desk", DESK],
  ["wide", WIDE],
] as const;

type Seen = [name: string, page: string, look: Look];

const looks: readonly Seen[] = [
  ...places.flatMap(([name, page]) => widths.map(([width, look]): Seen => [`${name}-${width}`, page, look])),
  ["first-page-desk-dark", "docs/README.md", { ...DESK, dark: true }],
  ["install-phone-dark", "docs/install.md", { ...PHONE, dark: true }],
  ["reference-phone-without-scripts", "docs/reference/tls-edge.md#specbackend", { ...PHONE, scripts: false }],
  ["concepts-desk-without-scripts", "docs/concepts/ownership.md", { ...DESK, scripts: false }],
];

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".png": "image/png",
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

let shown = 0;

/** Loads a page, at its top or at `#anchor`. The number makes the address another one: else only the anchor would be. */
function show(place: string, look: Look): Promise<void> {
  const [page = "", anchor = ""] = place.split("#");
  const path = addressOf(page).replace(/md$/, "html");
  shown += 1;
  return browser.load(`${address}/${path}?${shown}${anchor && `#${anchor}`}`, look);
}

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
    "no page is wider than a phone, and no command is cut (with scripts: %s)",
    async (scripts) => {
      const wide: string[] = [];
      for (const page of allPages()) {
        await show(page, { ...PHONE, scripts });
        const width = Number(await browser.evaluate("document.scrollingElement.scrollWidth"));
        if (width > PHONE.width) wide.push(`${page}: ${width}`);
        wide.push(...(await cutCommands()).map((command) => `${page}: ${command}`));
      }
      expect(wide).toEqual([]);
    },
    300_000,
  );

  test.each([DESK, WIDE])(
    "on a desk of $width pixels no table, no message and no command is cut",
    async (look) => {
      const cut: string[] = [];
      for (const page of allPages()) {
        await show(page, look);
        const inside = ".vp-doc table, .vp-doc:not(._commands) .language-text pre";
        const wide = `[...document.querySelectorAll("${inside}")].filter((one) => one.scrollWidth > one.clientWidth + 1).length`;
        const count = Number(await browser.evaluate(wide));
        if (count > 0) cut.push(`${page}: ${count}`);
        cut.push(...(await cutCommands()).map((command) => `${page}: ${command}`));
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

/** Lines of commands of which some letters are right of their block. */
const cutCommands = async (): Promise<string[]> => {
  const script = `(() => {
    const right = (one) => Math.max(...[...one.getClientRects()].map((rect) => rect.right));
    const lines = [...document.querySelectorAll(".language-console .command")];
    return lines.filter((one) => right(one) > right(one.closest("pre")) + 1).map((one) => one.textContent);
  })()`;
  return (await browser.evaluate(script)) as string[];
};

/** The part of the pixels that differ, and a picture of them. Pictures of different sizes differ in all. */
function compare(one: PNG, other: PNG): { part: number; difference: PNG } {
  const { width, height } = one;
  const difference = new PNG({ width, height });
  if (other.width !== width || other.height !== height) return { part: 1, difference: other };
  const pixels = pixelmatch(one.data, other.data, difference.data, width, height, { threshold: 0.2 });
  return { part: pixels / (width * height), difference };
}
