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
    .filter((name) => name.endsWith(".ts") && !name.includes("node_modules"))
    .map((name) => join(folder, name));
}

const isExempt = (file: string): boolean => file.endsWith(".test.ts");

const production = sources("src").filter((file) => !isExempt(file));
const imports = production.flatMap((file) => importsOf(file, readFileSync(join(root, file), "utf8")));

/** Folders of src whose folders have arrows of their own. */
const divided = ["account", "reconcile", "runtime", "operator"];

/** The room of a file: `src/kinds/ip-policy.ts` is in `kinds`, `src/main.ts` in `main`, `src/reconcile/find/find.ts` in `reconcile/find`. */
function room(path: string): string {
  const [, first = "", ...rest] = path.split(sep);
  return divided.includes(first) && rest.length > 1 ? `${first}/${rest[0]}` : first.replace(/\.ts$/, "");
}

/** `reconcile/find` is a part of `reconcile`. */
const part = (path: string): string => room(path).split("/")[0] ?? "";

const runtime = ["runtime", "runtime/connection", "runtime/cache", "runtime/controller", "runtime/process"];
/** What an algorithm stands on: what an object says, how a kind is written, the service, and types of the runtime. */
const ground = ["objects", "schema", "gateway", "runtime"];
const account = ["account", "account/remotes", "account/requests"];
const reconciler = [...account, ...ground];
const operator = ["config", "kinds", "reconcile", ...reconciler, ...runtime];

/** What each room of src may import of the others. */
const arrows: Record<string, readonly string[]> = {
  http: [],
  gateway: ["http"],
  runtime: ["http"],
  "runtime/connection": ["runtime", "http"],
  "runtime/cache": ["runtime", "runtime/connection"],
  "runtime/controller": ["runtime"],
  "runtime/process": ["runtime", "runtime/connection", "runtime/controller"],
  schema: ["gateway"],
  kinds: ["schema", "gateway"],
  generate: ["cli", "reconcile/decide", "objects", "kinds", "schema", "gateway"],
  plan: [
    ...["reconcile", "reconcile/desired", "reconcile/use", "operator/kubernetes", "operator/dns"],
    ...[...reconciler, ...runtime],
  ],
  cli: ["config", "http", "plan", "operator/kubernetes", "operator/installations", "kinds", ...reconciler, ...runtime],
  objects: ["schema", "gateway", "runtime"],
  account: [...account, ...ground],
  "account/requests": ["account", ...ground],
  "account/remotes": ["account", "account/requests", ...ground],
  // of the controller it knows the type that a reconcile returns
  reconcile: [
    ...["reconcile/desired", "reconcile/use", "reconcile/decide", "reconcile/find", "reconcile/apply", "reconcile/dns"],
    ...["reconcile/status", "runtime/controller"],
    ...reconciler,
  ],
  "reconcile/desired": ["reconcile", ...reconciler],
  "reconcile/dns": ["reconcile", ...reconciler],
  "reconcile/use": ["reconcile", "reconcile/desired", ...reconciler],
  "reconcile/decide": ["reconcile", "reconcile/desired", "reconcile/use", ...reconciler],
  "reconcile/find": ["reconcile", "reconcile/desired", "reconcile/use", "reconcile/decide", ...reconciler],
  "reconcile/status": ["reconcile", "reconcile/desired", ...reconciler],
  "reconcile/apply": [
    ...["reconcile", "reconcile/desired", "reconcile/dns", "reconcile/find", "reconcile/use", "reconcile/decide"],
    ...["reconcile/status", ...reconciler],
  ],
  sessions: ["config", "kinds", ...reconciler, ...runtime],
  operator: [
    ...["operator/kubernetes", "operator/accounts", "operator/dns", "operator/triggers", "operator/metrics"],
    ...["operator/installations", "sessions", ...operator],
  ],
  "operator/dns": operator,
  "operator/kubernetes": operator,
  "operator/installations": ["operator/kubernetes", ...operator],
  "operator/accounts": ["operator/kubernetes", ...operator],
  "operator/triggers": ["operator/kubernetes", "operator/accounts", ...operator],
  "operator/metrics": [
    "operator/installations",
    "operator/kubernetes",
    "operator/accounts",
    "operator/triggers",
    "sessions",
    ...operator,
  ],
};

/** What puts the parts together, and may import all of them. */
const assembly = ["main", "kubectl-tunnelgateway", "run-operator", "config"];

/**
 * Of `reconcile`, its rooms may import what says how a reconcile goes on, and not the algorithm. Of `account`, they may
 * import how a key is proved, and what is remembered of an object.
 */
const shared = [
  "src/account/key-proof.ts",
  "src/account/object-record.ts",
  "src/reconcile/context.ts",
  "src/reconcile/cluster.ts",
  "src/reconcile/dns.ts",
  "src/reconcile/features.ts",
  "src/reconcile/unseen.ts",
].map((path) => path.replaceAll("/", sep));

const reported = ({ from, to }: Import): string => `${from} imports ${to}`;

/** Circles of imports among the sources; each begins and ends with the same file. */
function circles(): string[] {
  const files = sources("src");
  const targets = new Map(
    files.map((file) => [file, importsOf(file, readFileSync(join(root, file), "utf8")).map(({ to }) => to)]),
  );
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) found.push([...path.slice(path.indexOf(file)), file].join(" -> "));
    if (path.includes(file) || done.has(file)) return;
    for (const to of targets.get(file) ?? []) visit(to, [...path, file]);
    done.add(file);
  };
  for (const file of files) visit(file, []);
  return found;
}

const nameOf = (to: string): string =>
  to
    .split("/")
    .slice(0, to.startsWith("@") ? 2 : 1)
    .join("/");

/** Whether it is a file of this project, a module of Node, or what a package says that others may import of it. */
function isEntry(to: string): boolean {
  if (to === nameOf(to) || /^node:|^\.|\.ts$|\.mjs$/.test(to)) return true;
  const { exports } = JSON.parse(readFileSync(join(root, "node_modules", nameOf(to), "package.json"), "utf8"));
  return exports !== undefined && `.${to.slice(nameOf(to).length)}` in exports;
}

describe("the rooms of src", () => {
  it.each(Object.entries(arrows))("%s imports only %j", (name, allowed) => {
    const own = imports.filter(({ from, to }) => room(from) === name && to.startsWith(`src${sep}`));
    expect(own.length + Number(name === "http")).toBeGreaterThan(0);
    const wrong = own.filter(({ to }) => room(to) !== name && !allowed.includes(room(to)));
    expect(wrong.map(reported)).toEqual([]);
  });

  it.each(["reconcile", "account"])("of %s import what they share, and not the algorithm", (name) => {
    const inner = imports.filter(({ from, to }) => room(from).startsWith(`${name}/`) && room(to) === name);
    expect(inner.filter(({ to }) => !shared.includes(to)).map(reported)).toEqual([]);
  });

  it("are not imported by each other in a circle, not even for a type", () => {
    expect(circles()).toEqual([]);
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
    expect(packages.filter(({ to }) => !(nameOf(to) in dependencies)).map(reported)).toEqual([]);
  });

  it("import packages by their entries alone", () => {
    const files = ["src", "test", "tools", "examples"].flatMap(sources);
    const used = files.flatMap((file) => importsOf(file, readFileSync(join(root, file), "utf8")));
    expect(used.filter(({ to }) => !isEntry(to)).map(reported)).toEqual([]);
    expect(["undici", "zod", "vitest/config"].map(isEntry)).toEqual([true, true, true]);
    expect(["undici/lib/dispatcher/agent.js", "zod/v4/core/api.js", "yaml/dist/index.js"].map(isEntry)).toEqual([
      ...[false, false, false],
    ]);
  });

  it("are all known here", () => {
    const rooms = new Set(production.map(room));
    expect([...rooms].filter((name) => !(name in arrows) && !assembly.includes(name))).toEqual([]);
  });

  it("reach out of src nowhere", () => {
    const local = imports.filter(({ to }) => to.startsWith("..") || /^(test|tools)\b/.test(to));
    expect(local.map(reported)).toEqual([]);
  });

  it("import nothing that is made for tests", () => {
    expect(imports.filter(({ to }) => isExempt(to) || to === "vitest" || to === "fast-check").map(reported)).toEqual(
      [],
    );
  });

  it("name the file that they import", () => {
    expect(imports.filter(({ to }) => to.startsWith(`src${sep}`) && !to.endsWith(".ts")).map(reported)).toEqual([]);
  });
});

describe("a folder", () => {
  const names = (folder: string): [string, Set<string>][] => {
    const entries = readdirSync(join(root, folder), { withFileTypes: true }).filter(
      ({ name }) => !/^node_mod/.test(name),
    );
    const own = new Set(entries.map(({ name }) => name.replace(/(\.\w+)?(\.test)?\.ts$/, "")));
    return [
      [folder, own],
      ...entries.filter((entry) => entry.isDirectory()).flatMap(({ name }) => names(join(folder, name))),
    ];
  };

  it("has fewer than 25 names, a module and its tests counted once", () => {
    const all = ["src", "test", "tools"].flatMap(names);
    expect(all.length).toBeGreaterThan(100);
    expect(all.filter(([, { size }]) => size >= 25).map(([folder, { size }]) => `${folder}: ${size}`)).toEqual([]);
  });
});

describe("an interface or object type", () => {
  const declared = /^(?:export )?(?:interface|type) (\w+)[^;{]*\{\n([\s\S]*?)^\}/gm;
  /** Of a member, the first line alone begins with two spaces and something else than a bracket that ends one. */
  const membersIn = (body: string): number => body.match(/^ {2}[\w"'[(]/gm)?.length ?? 0;
  const sizes = (text: string): [string, number][] =>
    [...withoutComments(text).matchAll(declared)].map(([, name = "", body = ""]) => [name, membersIn(body)]);

  it("has at most 20 members: more have parts with names of their own", () => {
    const all = production.flatMap((file) => sizes(readFileSync(join(root, file), "utf8")));
    expect(all.length).toBeGreaterThan(300);
    expect(all.filter(([, size]) => size > 20)).toEqual([]);
  });

  it.each([
    ["interface A {\n  a: string;\n  readonly b?: {\n    c: string;\n  };\n}", 2],
    ["export interface A<T> extends B<T> {\n  /** a: b */\n  a(b: string): void;\n  [field: string]: unknown;\n}", 2],
    ["export type A = B & {\n  a:\n    | string\n    | number;\n  get b(): string;\n};", 2],
    ['interface A {\n  "a-b": string;\n  (given: string): void;\n}', 2],
  ])("is counted in %j", (text, size) => {
    expect(sizes(text)).toEqual([["A", size]]);
  });
});

describe("an object literal", () => {
  it("is not spread into another one: its members stand on lines of their own", () => {
    const files = ["src", "test", "tools", "examples"].flatMap(sources);
    const spreading = files.filter((file) => /\.\.\.\{/.test(readFileSync(join(root, file), "utf8")));
    expect(spreading).toEqual([]);
  });
});

describe("the API key of a GatewayAccount", () => {
  it("has one door, account-key.ts: the others only compare or tell the name of its Secret", () => {
    const naming = production.filter((file) =>
      withoutComments(readFileSync(join(root, file), "utf8")).includes("apiKeySecretRef"),
    );
    expect(naming.sort()).toEqual(
      [
        "src/kinds/gateway-account.ts",
        "src/operator/accounts/account-controller.ts",
        "src/operator/accounts/accounts.ts",
        "src/operator/kubernetes/account-key.ts",
        "src/operator/watches.ts",
      ].map((path) => path.replaceAll("/", sep)),
    );
  });
});

const backoff = join("src", "runtime", "backoff.ts");

describe("what converges", () => {
  it("knows only types of the runtime, and its delays", () => {
    const loaded = imports.filter(
      ({ from, to, typeOnly }) =>
        ["reconcile", "account", "objects"].includes(part(from)) &&
        part(to) === "runtime" &&
        to !== backoff &&
        !typeOnly,
    );
    expect(loaded.map(reported)).toEqual([]);
  });
});

describe("a delay that grows", () => {
  const doubled = /\b2 \*\* (?!\d)|[\w)] \*=? 2\b|Math\.pow|<< 1\b/;

  it("grows in one place, the backoff of the runtime", () => {
    const doubling = production.filter((file) => doubled.test(withoutComments(readFileSync(join(root, file), "utf8"))));
    expect(doubling).toEqual([backoff]);
  });

  it.each([
    ["delayMs = Math.min(delayMs * 2, LONGEST_MS);", true],
    ["Math.max(before() * 2, first)", true],
    ["first * 2 ** (count - 1)", true],
    ["wait *= 2", true],
    ["const longest = 2 ** 31 - 1;", false],
    ["const WAIT_MS = 2 * 60_000;", false],
  ])("is seen in %j: %s", (line, isSeen) => {
    expect(doubled.test(line)).toBe(isSeen);
  });
});

describe("what an object reports", () => {
  const made = /\bnew (?:\(.*)?\b(?:Waiting|Blocked|Retry)\b|\bextends (?:Waiting|Blocked|Retry)\b/;
  const making = production.filter((file) => made.test(withoutComments(readFileSync(join(root, file), "utf8"))));

  it("is declared in objects/errors, so that troubleshooting tells of it", () => {
    // RefusedBefore repeats what the status says.
    expect(making).toEqual([join("src", "objects", "reconcile-error.ts")]);
  });
});

/** Who may have what sends a change to the service: the rooms of `account`, and who opens an account. */
const senders = ["account", "account/requests", "account/remotes", "operator/accounts"];

/** Here a client is only a type: of an account that is a copy. */
const namingClients = [join("src", "plan", "account-copy.ts")];

describe("what changes the account", () => {
  const client = join("src", "gateway", "client.ts");
  const names = /\bGatewayClient\b/;

  it("is sent by the account alone, so that each change passes its checks", () => {
    const knowing = production.filter(
      (file) => file !== client && names.test(withoutComments(readFileSync(join(root, file), "utf8"))),
    );
    expect(knowing.length).toBeGreaterThan(3);
    const others = knowing.filter((file) => !senders.includes(room(file)) && !namingClients.includes(file));
    expect(others).toEqual([]);
    const making = imports.filter(
      ({ to, from, typeOnly }) => to === client && !typeOnly && namingClients.includes(from),
    );
    expect(making.map(reported)).toEqual([]);
  });

  it("is asked for by a reconcile, also when a command wants it", () => {
    const forbidden = [join("src", "account", "account.ts"), join("src", "account", "command-account.ts")];
    const isRemotes = (to: string) => to.startsWith(join("src", "account", "remotes"));
    const wrong = imports.filter(
      ({ from, to }) =>
        room(from) === "cli" && (forbidden.includes(to) || isRemotes(to) || /^src.reconcile\b/.test(to)),
    );
    expect(wrong.map(reported)).toEqual([]);
    const opening = imports.filter(({ to }) => to === forbidden[1]).map(({ from }) => from);
    expect(opening).toEqual([join("src", "plan", "account-changes.ts")]);
  });

  describe("is deleted after one list of checks:", () => {
    const reconciling = production.filter((file) => part(file) === "reconcile");
    const source = (file: string) => withoutComments(readFileSync(join(root, file), "utf8"));

    it("each DELETE takes its id and its options from a permit", () => {
      // A set or a map takes one argument, a request its options as well.
      const requests = /\.delete(?:Module)?\(\s*([^(),]+,[^()]*)\)/g;
      const calls = reconciling.flatMap((file) => [...source(file).matchAll(requests)]);
      expect(calls.length).toBe(2);
      for (const [, given] of calls) expect(given).toMatch(/^permit\.id,.*permit\.request$/s);
    });

    it("nobody else knows the remotes that can be deleted", () => {
      const knowing = production.filter((file) => /\b(?:[cC]reatable|[uU]pdatable)Remotes\b/.test(source(file)));
      const rooms = new Set(knowing.map(part));
      expect([...rooms].sort()).toEqual(["account", "reconcile"]);
    });

    it("a permit is given by the list alone", () => {
      const giving = reconciling.filter((file) => /\bnew Permit\(/.test(source(file)));
      expect(giving).toEqual([join("src", "reconcile", "decide", "may-delete.ts")]);
    });

    it("what cannot be read is asked in one file", () => {
      const asking = reconciling.filter((file) => /\bUnreadable"|\bunreadNamespaces\(/.test(source(file)));
      expect(asking).toEqual([join("src", "reconcile", "cluster.ts"), join("src", "reconcile", "unseen.ts")]);
    });
  });
});

describe("the definitions of the kinds", () => {
  it("do no I/O", () => {
    // of node:crypto only what parses
    const allowed = ["node:util", "node:crypto", "zod", "yaml"];
    const outside = imports.filter(
      ({ from, to }) => ["kinds", "schema"].includes(part(from)) && !to.startsWith("src") && !allowed.includes(to),
    );
    expect(outside.map(reported)).toEqual([]);
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

describe("what the commands print for kubectl", () => {
  const writer = join("src", "cli", "terminal", "kubernetes-yaml.ts");
  const writers = (pattern: RegExp): string[] =>
    production
      .filter((file) => room(file) === "cli")
      .filter((file) => pattern.test(withoutComments(readFileSync(join(root, file), "utf8"))));

  it("is written in one place", () => {
    const stringified =
      /import \{[^}]*\b(?:stringify|(?<!type )Document)\b[^}]*\} from "yaml"|import \* as \w+ from "yaml"/;
    expect(writers(stringified)).toEqual([writer]);
    expect(writers(/^---/m)).toEqual([]);
    expect(writers(/["`'](?:\\n)?---\\n/)).toEqual([writer]);
  });
});

describe("where the remotes of a kind are", () => {
  it("is asked in one place of the reconciler, which tells the compiler", () => {
    const asking = production.filter(
      (file) =>
        part(file) === "reconcile" &&
        /\blocation\.type\b/.test(withoutComments(readFileSync(join(root, file), "utf8"))),
    );
    expect(asking).toEqual([join("src", "reconcile", "features.ts")]);
  });
});

describe("what people write into annotations", () => {
  it("is read in one place", () => {
    const readers = production.filter((file) =>
      /annotations\??\.?\[annotations\.(paused|orphan|releaseTo|uninstalling|reconcileRequestedAt)\b/.test(
        withoutComments(readFileSync(join(root, file), "utf8")),
      ),
    );
    // objects/annotations.ts reads them all, by their names as data
    expect(readers).toEqual([]);
  });
});

describe("what the commands print for people", () => {
  it("goes through one terminal", () => {
    const printers = production.filter((file) =>
      /\bconsole\.|\bprocess\.std(out|err)\b|\{[^}]*\bstdout\b[^}]*\} = process\b|\\x1b/.test(
        withoutComments(readFileSync(join(root, file), "utf8")),
      ),
    );
    const folder = join("src", "cli", "terminal");
    expect(printers.filter((file) => room(file) === "cli" || file.endsWith("main.ts")).sort()).toEqual([
      join(folder, "line.ts"),
      join(folder, "terminal.ts"),
      // the generator, which is no command
      join("src", "generate", "main.ts"),
    ]);
  });
});

describe("files of users", () => {
  it("are written by one module, which loses no edit", () => {
    const writers = production.filter((file) =>
      /\b(writeFile|appendFile|createWriteStream|rename|copyFile|open)(Sync)?\b[^;]*\} from "node:fs/.test(
        withoutComments(readFileSync(join(root, file), "utf8")),
      ),
    );
    // the generator writes into the repository
    expect(writers.sort()).toEqual([
      join("src", "cli", "terminal", "text-file.ts"),
      join("src", "generate", "main.ts"),
    ]);
  });
});

describe("the simulator", () => {
  it("knows nothing of the operator", () => {
    const files = sources(join("tools", "simulator"));
    expect(files.length).toBeGreaterThan(20);
    const wrong = files
      .flatMap((file) => importsOf(file, readFileSync(join(root, file), "utf8")))
      .filter(({ to }) => to.startsWith(`src${sep}`));
    expect(wrong.map(reported)).toEqual([]);
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
