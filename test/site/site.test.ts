import { execFile } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { addressOf, allPages, titleOf } from "../../site/.vitepress/contents.ts";

/** Builds the site as `npm run docs` does, and reads it as a browser without JavaScript does. */
const root = join(import.meta.dirname, "../..");
const site = join(root, "site/.vitepress/dist");
const files = new Map<string, string>();

// a fresh clone installs its packages first
beforeAll(async () => {
  await promisify(execFile)("npm", ["run", "docs"], { cwd: root, maxBuffer: 2 ** 26 });
  for (const name of globSync("**/*.html", { cwd: site })) files.set(name, readFileSync(join(site, name), "utf8"));
}, 300_000);

const built = (page: string): string => files.get(addressOf(page).replace(/md$/, "html")) ?? "";
const textOf = (html: string): string =>
  html
    .replace(/<script[\s\S]*?<\/script>/g, "")
    .replace(/<[^>]+>/g, "")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&")
    .replace(/\s+/g, " ");

test("each page of the contents becomes a page, and nothing else does", () => {
  const expected = allPages().map((page) => addressOf(page).replace(/md$/, "html"));
  expect([...files.keys()].sort()).toEqual([...expected, "404.html"].sort());
});

describe("without JavaScript", () => {
  test.each(allPages())("%s can be read, and says where the others are", (page) => {
    const html = built(page);
    const article = textOf(html.slice(html.indexOf("<main"), html.indexOf("</main>")));
    expect(article).toContain(titleOf(page).replaceAll("`", ""));
    const source = readFileSync(join(root, page), "utf8");
    // blocks of code are what people copy
    for (const [, block = ""] of source.matchAll(/^```\w*\n([\s\S]*?)^```$/gm)) {
      expect(article).toContain(block.trim().replace(/\s+/g, " "));
    }
    for (const other of ["docs/README.md", "docs/install.md", "docs/reference/README.md"]) {
      expect(html).toContain(`href="/${addressOf(other).replace(/(index)?\.md$/, "")}`);
    }
  });
});

test("every link of every page leads to a page, a heading, a file, or out of the site", () => {
  const broken = [...files].flatMap(([name, html]) =>
    [...html.matchAll(/ (?:href|src)="([^"]+)"/g)]
      .map(([, target = ""]) => target)
      .filter((target) => !/^(?:[a-z]+:|\/\/)/.test(target) && !leadsSomewhere(name, target))
      .map((target) => `${name}: ${target}`),
  );
  expect(broken).toEqual([]);
});

function leadsSomewhere(from: string, target: string): boolean {
  const [path = "", anchor] = decodeURI(target).split("#");
  const relative = path.startsWith("/") ? path.slice(1) : join(dirname(from), path);
  const name = path === "" ? from : relative.replace(/(^|\/)$/, "$1index.html");
  if (!existsSync(join(site, name))) return false;
  // VitePress writes its own link to the content, and its link to the top of a page
  return !anchor || files.get(name)?.includes(`id="${anchor}"`) === true;
}

test("the search has the text of the pages with it, and asks nobody", () => {
  const [index = ""] = globSync("assets/chunks/@localSearchIndex*.js", { cwd: site });
  const text = readFileSync(join(site, index), "utf8");
  const missing = allPages().filter((page) => !text.includes(`"/${addressOf(page).replace(/(index)?\.md$/, "")}`));
  expect(missing).toEqual([]);
  expect(text.includes('["stalled",')).toBe(true);
});
