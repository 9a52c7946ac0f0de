import { execFile } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { addressOf, allPages, titleOf } from "../../site/.vitepress/contents.ts";
import { searchOptions } from "../../site/.vitepress/search.ts";

/** Builds the site as `npm run docs` does, and reads it as a browser without JavaScript does. */
const root = join(import.meta.dirname, "../..");
const site = join(root, "site/.vitepress/dist");
const files = new Map<string, string>();

// a fresh clone installs its packages first
beforeAll(async () => {
  await promisify(execFile)("npm", ["run", "docs"], { cwd: root, maxBuffer: 2 ** 26 });
  for (const name of globSync("**/*.html", { cwd: site })) files.set(name, readFileSync(join(site, name), "utf8"));
});

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

/** The search of the site, as the browser has it. */
async function search(query: string): Promise<string[]> {
  const [index = ""] = globSync("assets/chunks/@localSearchIndex*.js", { cwd: site });
  const { default: text } = (await import(join(site, index))) as { default: string };
  const { default: MiniSearch } = await import(join(root, "site/node_modules/minisearch/dist/es/index.js"));
  const options = { fields: ["title", "titles", "text"], storeFields: ["title", "titles"], searchOptions };
  const found: { id: string }[] = MiniSearch.loadJSON(text, options).search(query);
  return found.map(({ id }) => id.replace(/#.*/, "").replace(/(index)?(\.html)?$/, ""));
}

test.each([
  ["wildcard certificate", /^\/how-to\/recipes$/],
  ["mutual tls", /^\/(how-to\/cert-manager|reference\/certificate-authority)$/],
  ["kubectl tunnelgateway", /^\/(plugin|commands)$/],
  ["multi tenant", /^\/tenancy$/],
  ["publish ssh", /^\/how-to\/recipes$/],
  ["rotate api key", /^\/how-to\/rotate-a-key$/],
])("the search for %s finds its page first", async (query, page) => {
  const [first] = await search(query);
  expect(first).toMatch(page);
});

test("each field of the reference has an anchor, and is a heading that the contents have", () => {
  const html = built("docs/reference/tls-edge.md");
  const [, least, most] = /\\"outline\\":\[(\d),(\d)\]/.exec(html) ?? [];
  const headings = [...html.matchAll(/<h(\d) id="((?:spec|status)\w+)"/g)];
  // the browser makes the contents, of the headings of these levels
  expect(headings.filter(([, level = ""]) => level < String(least) || level > String(most))).toEqual([]);
  const fields = headings.map(([, , id]) => id);
  const some = ["spechostports", "specbackendbackendrefkind", "statustlsterminationterminateat"];
  expect(fields).toEqual(expect.arrayContaining(some));
});

test("lines of commands are marked, and what they print is not", () => {
  const html = built("docs/plugin.md");
  expect(html).toMatch(/class="line command"/);
  const tree = built("docs/screens.md");
  // those that the page shows
  expect(tree.match(/class="line command"/g)).toHaveLength(4);
});

test("what is not there has a page that says where to look", () => {
  const script = globSync("assets/app*.js", { cwd: site }).map((name) => readFileSync(join(site, name), "utf8"));
  expect([...script, files.get("404.html") ?? ""].join("")).toContain("There is no such page");
});
