import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Script } from "node:vm";
import { beforeAll, describe, expect, test } from "vitest";
import { sourceStack } from "../../src/runtime/stack.ts";
import { Child } from "../shared/child.ts";
import { type Ended, run } from "../shared/run.ts";
import { bundle } from "./bundle.ts";

const root = resolve(import.meta.dirname, "../..");
/** Prints the URL of each file that is loaded. */
const TELL = `data:text/javascript,import { registerHooks } from "node:module";
registerHooks({ load: (url, context, next) => (url.startsWith("file:") && console.log(url), next(url, context)) });`;

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "bundle-"));
  await bundle(folder);
  return () => rm(folder, { recursive: true });
});

const program = (...args: readonly string[]): Promise<Ended> =>
  run(process.execPath, [...args], { cwd: folder, env: { HOME: folder } });

test("the bundle needs nothing beside it", async () => {
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  const { code, stdout } = await program("dist/kubectl-tunnelgateway.js", "version", "-o", "json");
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ version });
});

test("a kubeconfig is read, although its parser is run only then", async () => {
  await writeFile(join(folder, "kubeconfig.yaml"), "apiVersion: v1\nkind: Config\n");
  const env = { HOME: folder, KUBECONFIG: join(folder, "kubeconfig.yaml") };
  const { stderr } = await run(process.execPath, ["dist/main.js", "status"], { cwd: folder, env });
  expect(stderr).toContain("the kubeconfig is empty, or has no current-context");
});

test("the page of an account has its script and its style, as in a checkout", async () => {
  const cluster = {
    clusters: [{ name: "a", cluster: { server: "http://127.0.0.1:9" } }],
    users: [{ name: "a", user: {} }],
  };
  const contexts = [{ name: "a", context: { cluster: "a", user: "a" } }];
  const kubeconfig = join(folder, "page.json");
  await writeFile(kubeconfig, JSON.stringify({ kind: "Config", "current-context": "a", contexts, ...cluster }));
  const env = { HOME: folder, KUBECONFIG: kubeconfig };
  const page = new Child(join(folder, "dist/kubectl-tunnelgateway.js"), { args: ["ui", "--port", "0"], env });
  try {
    const address = await page.said("?token=");
    const cookie = (await fetch(address, { redirect: "manual" })).headers.get("set-cookie")?.split(";")[0] ?? "";
    const textOf = async (path: string) => (await fetch(new URL(path, address), { headers: { cookie } })).text();
    const script = await textOf("/page.js");
    expect(script).toContain("EventSource");
    expect(() => new Script(script)).not.toThrow();
    // what a bundler adds to a class would be missing in a browser
    expect(script).not.toMatch(/\b(__name|__publicField|import)\b/);
    expect(await textOf("/style.css")).toContain("color-scheme");
    expect(await textOf("/")).toContain("The cluster cannot be reached");
  } finally {
    await page.stop("SIGKILL");
  }
});

describe("what an operator that starts loads", () => {
  /** The sources of all files that are loaded. */
  let sources: string[];

  beforeAll(async () => {
    // it ends once it sees that no account is set
    const { stdout, stderr } = await program("--import", TELL, "dist/main.js", "run");
    expect(stderr).toContain("GATEWAY_BASE_URL must be set");
    const files = stdout.split("\n").filter((line) => line.startsWith("file:"));
    const maps = await Promise.all(files.map((file) => readFile(new URL(`${file}.map`), "utf8").catch(() => "{}")));
    sources = maps.flatMap((map) => JSON.parse(map).sources ?? []);
  });

  test("of its packages", () => {
    const packages = sources.flatMap((source) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1] ?? []);
    expect([...new Set(packages)].sort()).toMatchInlineSnapshot(`
      [
        "@opentelemetry/api",
        "@pinojs/redact",
        "atomic-sleep",
        "bintrees",
        "lru-cache",
        "on-exit-leak-free",
        "pino",
        "pino-std-serializers",
        "prom-client",
        "quick-format-unescaped",
        "safe-stable-stringify",
        "sonic-boom",
        "tdigest",
        "thread-stream",
        "undici",
        "yaml",
        "zod",
      ]
    `);
  });

  test("and no more files of its own than somebody has looked at", () => {
    const own = sources.filter((source) => source.startsWith("src/"));
    expect(new Set(own).size).toBeLessThanOrEqual(348);
  });

  test("and nothing of the commands", () => {
    expect(sources).toContain("src/operator/operator.ts");
    expect(sources.filter((source) => source.startsWith("src/cli/")).sort()).toMatchInlineSnapshot(`
      [
        "src/cli/terminal/line.ts",
        "src/cli/terminal/plain.ts",
        "src/cli/terminal/progress.ts",
        "src/cli/terminal/table.ts",
        "src/cli/terminal/terminal.ts",
        "src/cli/terminal/wrapped.ts",
        "src/cli/version.ts",
      ]
    `);
  });
});

test("each package in it is told, with its licence, and is one that npm installs for the program", async () => {
  const { packages } = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8"));
  const told = (await readdir(folder, { recursive: true })).filter((path) => path.endsWith("/package.json"));
  expect(told.length).toBeGreaterThan(20);
  for (const path of told) {
    const place = path.slice(0, -"/package.json".length);
    const { version, dev } = packages[place];
    expect({ place, dev }).toEqual({ place, dev: undefined });
    expect(JSON.parse(await readFile(join(folder, path), "utf8"))).toMatchObject({
      version,
      license: expect.any(String),
    });
    expect(await readdir(join(folder, place)), place).toContainEqual(expect.stringMatching(/^(un)?licen[cs]e/i));
  }
});

test("a stack shows the places in the sources, and Node reads no map at the start", async () => {
  const files = (await readdir(join(folder, "dist"), { recursive: true })).filter((path) => path.endsWith(".js"));
  const texts = await Promise.all(files.map((file) => readFile(join(folder, "dist", file), "utf8")));
  expect(texts.filter((text) => text.includes("//# sourceMappingURL="))).toEqual([]);

  const main = join(folder, "dist/main.js");
  const lines = (await readFile(main, "utf8")).split("\n");
  const line = lines.findIndex((one) => one.startsWith("async function operate("));
  expect(sourceStack(`    at operate (${pathToFileURL(main).href}:${line + 1}:16)`)).toMatch(
    /at operate \(src\/main\.ts:\d+:\d+\)$/,
  );
});
