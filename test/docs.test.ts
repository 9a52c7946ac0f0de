import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { anchorOf } from "../site/.vitepress/anchor.ts";
import { allPages } from "../site/.vitepress/contents.ts";
import { neededRights } from "../src/cli/doctor/rights.ts";
import { customResources } from "../src/kinds/index.ts";
import { MESSAGE_CHARACTERS } from "../src/objects/conditions.ts";
import { declaredErrors } from "../src/objects/errors/all.ts";
import { createTelemetry } from "../src/operator/metrics/telemetry.ts";
import { reasons } from "../src/schema/contract.ts";

const root = join(import.meta.dirname, "..");
const read = (file: string): string => readFileSync(join(root, file), "utf8");
const find = (pattern: string): string[] => globSync(pattern, { cwd: root, exclude: ["**/node_modules"] }).sort();

const pages = new Map(find("{*,docs/**/*,charts/*/*,examples/**/*}.md").map((file) => [file, read(file)]));

const fences = /^ *```(\w*)\n([\s\S]*?)^ *```$/gm;
const prose = (text: string): string => text.replace(fences, "");

const anchorsOf = (text: string): string[] =>
  [...prose(text).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => anchorOf(heading));

describe("every relative link leads somewhere", () => {
  test.each([...pages])("%s", (file, text) => {
    const links = [...prose(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);
    const broken = links.filter((target) => !/^[a-z]+:/.test(target) && !leadsSomewhere(file, target));
    expect(broken).toEqual([]);
  });
});

function leadsSomewhere(from: string, target: string): boolean {
  const [path = "", anchor] = target.split("#");
  const file = path ? relative(root, join(root, dirname(from), path)) : from;
  if (!existsSync(join(root, file))) return false;
  return anchor === undefined || anchorsOf(read(file)).includes(anchor);
}

test("every page has one place on the site: see site/.vitepress/contents.ts", () => {
  expect(allPages().sort()).toEqual([...new Set(allPages())].sort());
  expect([...pages.keys()].filter((page) => page.startsWith("docs/") && !allPages().includes(page))).toEqual([]);
});

// Pages for contributors begin with the question that they answer, and other pages may; the reference is generated.
const forUsers = [...pages.keys()].filter((page) => /^docs\/(concepts\/|how-to\/|[^/]+$)/.test(page));

test.each(forUsers)("%s says at its top what its reader can do, or knows, after it", (page) => {
  const [, beginning = ""] = read(page).split(/^# .+\n/m);
  expect(beginning.slice(0, 400)).toMatch(/After (this page|these pages) you |This page answers: /);
});

/** `<kind>` in a path stands for any name. */
test.each([...pages])("every path of a source file in backticks leads somewhere: %s", (_, text) => {
  const paths = [...prose(text).matchAll(/`((?:src|tools|test)\/[^\s`]*)`/g)].map(([, path = ""]) => path);
  expect(paths.filter((path) => find(path.replace(/<\w+>/g, "*")).length === 0)).toEqual([]);
});

test("comments of the examples fit into 80 columns, as a terminal and a page show them", () => {
  const comments = find("examples/*.yaml").flatMap((file) => read(file).match(/^ *# .*$/gm) ?? []);
  expect(comments.length).toBeGreaterThan(50);
  expect(comments.filter((line) => line.length > 80)).toEqual([]);
});

test("every page that a source file names exists", () => {
  const named = find("{src,test,tools}/**/*.ts").flatMap((file) =>
    [...read(file).matchAll(/\bdocs\/[\w/-]+\.md\b/g)].map(([page]) => ({ file, page })),
  );
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter(({ page }) => !existsSync(join(root, page)))).toEqual([]);
});

test("every manifest in a page is YAML of a kind", () => {
  const blocks = [...pages].flatMap(([file, text]) =>
    [...text.matchAll(fences)]
      .filter(([, language, content]) => language === "yaml" && content?.includes("apiVersion"))
      .map(([, , content = ""]) => ({ file, content })),
  );
  expect(blocks.length).toBeGreaterThan(0);
  for (const { file, content } of blocks) {
    for (const document of parseAllDocuments(content)) {
      expect(document.errors, file).toEqual([]);
      expect(document.toJS(), file).toMatchObject({ apiVersion: expect.any(String), kind: expect.any(String) });
    }
  }
});

describe("each block of commands, and each manifest, is for a test to run", () => {
  const tests = find("test/**/*.test.ts")
    .map(read)
    .filter((text) => text.includes("Page.read("));
  const withBlocks = [...pages].filter(([, text]) => /^ *```(?:console|yaml)$/m.test(text)).map(([file]) => file);

  test.each(withBlocks.filter((file) => !file.startsWith("docs/reference/")))("of %s", (file) => {
    expect(tests.filter((text) => text.includes(`Page.read("${file}"`))).not.toEqual([]);
  });

  test("with a prompt, by which tests find them", () => {
    const others = [...pages].filter(([, text]) => /^ *```(?:sh|bash|shell)$/m.test(text)).map(([file]) => file);
    expect(others).toEqual([]);
  });

  test("and each test of pages looks for blocks that it has not used", () => {
    expect(tests.filter((text) => !text.includes("unused"))).toEqual([]);
  });
});

/** What each command printed on a terminal of 80 columns, as the tests of commands keep it. */
const printed = new Map(
  find("src/cli/goldens/*/*.txt").map((file) => {
    const [command = "", ...parts] = read(file).split(/\n+=== /);
    const part = (heading: string) =>
      parts.find((one) => one.startsWith(`${heading}\n`))?.slice(heading.length + 1) ?? "";
    const wide = part("80 columns");
    return [command, (wide.trim() === "as in a pipe" ? part("in a pipe") : wide).replace(/\n\[exit code \d\]\s*$/, "")];
  }),
);

test.each(["status", "why", "plan"])("the page of screens shows what %s prints", (name) => {
  const blocks = [...read("docs/screens.md").matchAll(fences)].map(([, , text = ""]) => text.trimEnd());
  const shown = blocks.filter((text) => text.startsWith(`$ kubectl tunnelgateway ${name}`));
  expect(shown).toHaveLength(1);
  const [command = "", ...output] = shown[0]?.split("\n") ?? [];
  expect(output.join("\n")).toBe(printed.get(command));
});

test("the keys for k9s work on every kind that is written by people", () => {
  const { plugins } = parse(read("examples/k9s/plugins.yaml")) as { plugins: Record<string, { scopes: string[] }> };
  const plurals = customResources.map(({ plural }) => plural).filter((plural) => plural !== "tunnelsessions");
  for (const { scopes } of Object.values(plugins)) expect(scopes).toEqual(plurals.sort());
});

test("every npm script that a page names exists", () => {
  const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
  const named = [...pages.values()].flatMap((text) =>
    [...text.matchAll(/npm (?:run ([\w:-]+)|(test|start)\b)/g)].map(([, run, short]) => run ?? short ?? ""),
  );
  expect(new Set(named)).toContain("demo");
  expect([...new Set(named)].filter((name) => !(name in scripts))).toEqual([]);
});

test("the page of settings has each variable that the operator reads, and each that the chart sets, and no other", () => {
  const known = [...read("src/config.ts").matchAll(/^ {2,4}([A-Z_]+): /gm)].map(([, name = ""]) => name);
  const set = [...read("charts/tunnel-gateway-operator/templates/_helpers.tpl").matchAll(/- name: ([A-Z_]+)$/gm)];
  const ofPods = ["KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"];
  const real = new Set([...known, ...set.map(([, name = ""]) => name)].filter((name) => !ofPods.includes(name)));
  const page = read("docs/settings.md");
  const rows = [...page.matchAll(/^\| (`[A-Z].*?) \|/gm)].map(([, names]) => names).join(" ");
  const written = [...`${rows} ${page.match(/^The chart also sets .*/m)}`.matchAll(/`([A-Z_]+)`/g)].map(
    ([, name]) => name,
  );
  expect(real.size).toBeGreaterThan(25);
  expect([...new Set([...real, "HTTP_PROXY", "HTTPS_PROXY"])].sort()).toEqual(written.sort());
});

test("the page of settings shows the defaults that the operator has", () => {
  const defaults = [
    ...read("src/config.ts").matchAll(/^ {2,4}([A-Z_]+): .*\.(?:prefault|default)\("?([^")]+)"?\),$/gm),
  ];
  const rows = new Map(
    [...read("docs/settings.md").matchAll(/^\| `([A-Z_]+)` \| `(.*?)` \|/gm)].map(([, name, shown]) => [name, shown]),
  );
  const compared = defaults.filter(([, name]) => rows.has(name));
  expect(compared.length).toBeGreaterThan(10);
  for (const [, name, real] of compared) expect(rows.get(name), name).toBe(real);
});

test("every dependency has its reason in the record", () => {
  const { dependencies, devDependencies } = JSON.parse(read("package.json")) as Record<string, Record<string, string>>;
  const record = read("docs/decisions/0008-dependencies.md");
  const reported = [...record.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name);
  expect(reported.sort()).toEqual(Object.keys({ ...dependencies, ...devDependencies }).sort());
});

describe("the page of metrics", () => {
  const rows = [...read("docs/metrics.md").matchAll(/^\| `(\w+)` \| (\w+) \|(.*?)\| (.*) \|$/gm)];
  const { registry } = createTelemetry({ version: "1.0.0", resyncSeconds: 300, requestsPerMinute: 100 });
  // the declarations of prom-client leave out the names of labels
  const exposed = registry.getMetricsAsArray() as unknown as { name: string; type: string; labelNames: string[] }[];

  test("has each metric that the operator exposes, with its type and labels, and no other", () => {
    const written = rows.map(([, name = "", type, labels = ""]) => ({
      name,
      type,
      labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label),
    }));
    const real = exposed.map(({ name, type, labelNames }) => ({ name, type, labels: labelNames }));
    const byName = (one: { name: string }, other: { name: string }) => one.name.localeCompare(other.name);
    expect(written.sort(byName)).toEqual(real.sort(byName));
  });

  test("says of each what it means", () => {
    expect(rows.filter(([, , , , meaning = ""]) => meaning.length < 10)).toEqual([]);
  });
});

describe("troubleshooting", () => {
  const part = read("docs/troubleshooting.md").split("\n## Reasons\n")[1]?.split("\n## ")[0] ?? "";
  const written = part.split("\n### ").slice(1);
  const headings = written.map((section) => section.split("\n")[0] ?? "");
  const sections = new Map(written.map((section, index) => [headings[index] ?? "", section]));
  const source = [
    ...find("src/{objects,account,reconcile,schema,kinds,operator,sessions}/**/*.ts"),
    "src/generate/crd.ts",
  ]
    .filter((file) => !file.endsWith(".test.ts") && !file.endsWith("schema/contract.ts"))
    .map(read)
    .join("\n");

  test("has a heading for each reason, in their order, and no other", () => {
    expect(headings).toEqual(reasons);
  });

  test("leads to each reason from the table at its top, once", () => {
    const table = read("docs/troubleshooting.md").split("\n## By reason\n")[1]?.split("\n## ")[0] ?? "";
    const named = [...table.matchAll(/\[(\w+)\]\(#(\w+)\)/g)];
    expect(named.filter(([, reason, anchor]) => reason?.toLowerCase() !== anchor)).toEqual([]);
    expect(named.map(([, reason]) => reason).sort()).toEqual([...reasons].sort());
  });

  test.each([...reasons])("%s is said to be unused only when it is", (reason) => {
    const unused = sections.get(reason)?.includes("This version does not set this reason") ?? false;
    expect(unused).toBe(!source.includes(`"${reason}"`));
  });

  const texts = patternsOf(source);

  // The others come from the declarations of src/objects/errors.
  const byHand = [...sections].flatMap(([reason, section]) =>
    [...section.replace(/<!-- says: .* -->\n```text[\s\S]*?```/g, "").matchAll(fences)].map(
      ([, , text = ""]): [string, string] => [reason, text.trim()],
    ),
  );

  test.each(byHand)("%s: the operator writes: %s", (_, message) => {
    expect(texts.some((pattern) => pattern.test(message))).toBe(true);
    for (const line of message.split("\n")) expect(line.length).toBeLessThanOrEqual(MESSAGE_CHARACTERS);
  });

  test.each([...declaredErrors])("a condition does not cut %s", (_, { examples, textOf }) => {
    for (const text of examples.map(textOf)) expect(text.length).toBeLessThanOrEqual(MESSAGE_CHARACTERS);
  });
});

const hole = /\$\{(?:[^`{}]|`[^`]*`)*\}/;
const template = new RegExp(`\`((?:[^\`$]|\\$(?!\\{)|${hole.source})*)\``, "g");

/** Every text of the source that is long enough to be told apart, with its holes open. */
function patternsOf(source: string): RegExp[] {
  return source
    .split("\n")
    .flatMap((line) => [
      ...[...line.matchAll(/"([^"]*)"/g)].map(([, text = ""]) => [text]),
      ...[...line.matchAll(template)].map(([, text = ""]) => text.split(hole)),
    ])
    .filter((parts) => parts.join("").length >= 16)
    .map((parts) => new RegExp(`^${parts.map(literally).join(".*")}`));
}

const literally = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");

test("the page on installing counts the kinds and the rights as doctor does", () => {
  const page = readFileSync(join(root, "docs/install.md"), "utf8");
  const scope = {
    watchNamespaces: [],
    podNamespace: "any",
    installation: "default",
    leaderElection: true,
    watchSecrets: false,
    secretWriteNamespaces: undefined,
  };
  expect(page).toContain(`definitions: ${customResources.length} kinds of`);
  expect(page).toContain(`rights: all ${neededRights(scope).length} are granted`);
});
