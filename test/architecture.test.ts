import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { describe, expect, it } from "vitest";

const root = resolve(import.meta.dirname, "..");

interface Import {
  /** Path of the importing file, from the root of the repository. */
  from: string;
  to: string;
  /** Erased at run time. */
  typeOnly: boolean;
}

/** `import … from "x"`, `export … from "x"`, `import "x"` and `import("x")`, at the beginning of a statement. */
const statement =
  /(?:^|[;\n}])\s*(?:(import|export)\s+(type\s+)?(?:[^"'`;()]*?\sfrom\s+)?|[^\n"']*\bimport\()["']([^"']+)["']/g;

const withoutComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");

function importsOf(from: string, text: string): Import[] {
  return [...withoutComments(text).matchAll(statement)].map(([, , type, given = ""]) => {
    const to = given.startsWith(".") ? relative(root, resolve(root, dirname(from), given)) : given;
    return { from, to, typeOnly: type !== undefined };
  });
}

function sources(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => join(folder, name));
}

const isExempt = (file: string): boolean => file.endsWith(".test.ts") || file.split(sep).includes("testing");

const production = sources("src").filter((file) => !isExempt(file));
const imports = production.flatMap((file) => importsOf(file, readFileSync(join(root, file), "utf8")));

/** `src/schema/wire/request.ts` is in `kinds`, `src/main.ts` in `main`. */
const part = (path: string): string => path.split(sep)[1]?.replace(/\.ts$/, "") ?? "";

/** What each part of src may import of the others. */
const arrows: Record<string, readonly string[]> = {
  gateway: [],
  runtime: [],
  schema: ["gateway"],
  kinds: ["schema", "gateway"],
  generate: ["kinds", "schema", "gateway"],
  objects: ["account", "reconcile", "schema", "gateway", "runtime"],
  account: ["reconcile", "objects", "schema", "gateway", "runtime"],
  reconcile: ["account", "objects", "schema", "gateway", "runtime"],
  sessions: ["config", "account", "objects", "reconcile", "kinds", "schema", "gateway", "runtime"],
  operator: ["config", "account", "objects", "kinds", "schema", "gateway", "reconcile", "runtime", "sessions"],
};

/** What puts the parts together, and may import all of them. */
const assembly = ["main", "cli", "config"];

const told = ({ from, to }: Import): string => `${from} imports ${to}`;

describe("the parts of src", () => {
  it.each(Object.entries(arrows))("%s imports only %j", (name, allowed) => {
    const own = imports.filter(({ from, to }) => part(from) === name && to.startsWith(`src${sep}`));
    expect(own.length).toBeGreaterThan(0);
    const wrong = own.filter(({ to }) => part(to) !== name && !allowed.includes(part(to)));
    expect(wrong.map(told)).toEqual([]);
  });

  it("need no package that only development has", () => {
    const { dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    const later = production.flatMap((file) =>
      [...readFileSync(join(root, file), "utf8").matchAll(/createRequire\(import\.meta\.url\)\("([^"]+)"\)/g)].map(
        ([, to = ""]) => ({ from: file, to, typeOnly: false }),
      ),
    );
    expect(later.length).toBeGreaterThan(0);
    const packages = [...imports, ...later].filter(
      ({ to, typeOnly }) => !typeOnly && !to.startsWith(`src${sep}`) && !to.startsWith("node:"),
    );
    const name = (to: string) =>
      to
        .split("/")
        .slice(0, to.startsWith("@") ? 2 : 1)
        .join("/");
    expect(packages.filter(({ to }) => !(name(to) in dependencies)).map(told)).toEqual([]);
  });

  it("are all known here", () => {
    const parts = new Set(production.map(part));
    expect([...parts].filter((name) => !(name in arrows) && !assembly.includes(name))).toEqual([]);
  });

  it("reach out of src nowhere", () => {
    const local = imports.filter(({ to }) => to.startsWith("..") || /^(test|tools)\b/.test(to));
    expect(local.map(told)).toEqual([]);
  });

  it("import nothing that is made for tests", () => {
    expect(imports.filter(({ to }) => isExempt(to) || to === "vitest" || to === "fast-check").map(told)).toEqual([]);
  });

  it("name the file that they import", () => {
    expect(imports.filter(({ to }) => to.startsWith(`src${sep}`) && !to.endsWith(".ts")).map(told)).toEqual([]);
  });
});

describe("converging", () => {
  it("knows only types of the runtime", () => {
    const loaded = imports.filter(
      ({ from, to, typeOnly }) => part(from) === "reconcile" && part(to) === "runtime" && !typeOnly,
    );
    expect(loaded.map(told)).toEqual([]);
  });
});

describe("the definitions of the kinds", () => {
  it("do no I/O", () => {
    const allowed = ["node:util", "zod", "yaml"];
    const outside = imports.filter(
      ({ from, to }) => ["kinds", "schema"].includes(part(from)) && !to.startsWith("src") && !allowed.includes(to),
    );
    expect(outside.map(told)).toEqual([]);
  });
});

describe("the environment", () => {
  it("is read in one place", () => {
    const readers = production.filter((file) =>
      /\bprocess\.env\b/.test(withoutComments(readFileSync(join(root, file), "utf8"))),
    );
    expect(readers).toEqual([join("src", "config.ts")]);
  });
});

describe("the simulator", () => {
  it("knows nothing of the operator", () => {
    const files = sources(join("tools", "simulator"));
    expect(files.length).toBeGreaterThan(20);
    const wrong = files
      .flatMap((file) => importsOf(file, readFileSync(join(root, file), "utf8")))
      .filter(({ to }) => to.startsWith(`src${sep}`));
    expect(wrong.map(told)).toEqual([]);
  });
});

describe("the parser of imports", () => {
  it.each([
    ['import { a } from "./b.ts";', "src/kinds/b.ts", false],
    ['import type { A } from "../gateway/b.ts";', "src/gateway/b.ts", true],
    ['import {\n  a,\n  type B,\n} from "./b.ts";', "src/kinds/b.ts", false],
    ['export * from "./b.ts";', "src/kinds/b.ts", false],
    ['export type { A } from "./b.ts";', "src/kinds/b.ts", true],
    ['import "./b.ts";', "src/kinds/b.ts", false],
    ['import * as z from "zod";', "zod", false],
    ['const { a } = await import("./b.ts");', "src/kinds/b.ts", false],
  ])("reads %j", (text, to, typeOnly) => {
    expect(importsOf("src/kinds/a.ts", text)).toEqual([{ from: "src/kinds/a.ts", to, typeOnly }]);
  });

  it.each([
    '// import { a } from "./b.ts"',
    '/** `import "./b.ts"` */',
    'const from = "./b.ts";',
    'export const a = "./b.ts";',
  ])("finds nothing in %j", (text) => {
    expect(importsOf("src/kinds/a.ts", text)).toEqual([]);
  });
});
