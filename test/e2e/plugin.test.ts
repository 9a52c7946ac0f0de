import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { startCluster } from "../../tools/cluster/start.ts";
import { type Ended, run } from "../../tools/shared/run.ts";
import { Page, Shell } from "./support/page.ts";

/** Each way to `kubectl tunnelgateway`, with a real kubectl that finds it on the PATH. */
const root = join(import.meta.dirname, "../..");

let directory: string;
let kubectl: string;
let version: string;
/** What the archive of a release has. */
let unpacked: string;
/** What `npm install --global` makes: links to the programs of the package. */
let linked: string;

async function succeeded(program: string, args: readonly string[], cwd = root): Promise<string> {
  const { code, stdout, stderr } = await run(program, args, { cwd });
  expect(code, `${program} ${args.join(" ")}: ${stderr}`).toBe(0);
  return stdout;
}

beforeAll(async () => {
  ({ kubectl } = await startCluster());
  directory = await mkdtemp(join(tmpdir(), "plugin-"));
  ({ version } = JSON.parse(await readFile(join(root, "package.json"), "utf8")));
  await succeeded(join(root, ".ci/plugin"), ["somebody", directory]);
  await succeeded("tar", ["-xzf", `kubectl-tunnelgateway-${version}.tar.gz`], directory);
  unpacked = join(directory, `kubectl-tunnelgateway-${version}`);

  const [packed] = JSON.parse(await succeeded("npm", ["pack", "--json", `--pack-destination=${directory}`]));
  await succeeded("tar", ["-xzf", packed.filename], directory);
  const installed = join(directory, "package");
  await linkPackages(join(installed, "node_modules"));
  const { bin } = JSON.parse(await readFile(join(installed, "package.json"), "utf8")) as {
    bin: Record<string, string>;
  };
  linked = join(directory, "bin");
  await mkdir(linked);
  for (const [name, file] of Object.entries(bin)) {
    await chmod(join(installed, file), 0o755);
    await symlink(join(installed, file), join(linked, name));
  }
});
afterAll(() => rm(directory, { recursive: true }));

/** What npm would install beside the package: what package-lock.json says of its dependencies, and no other. */
async function linkPackages(folder: string): Promise<void> {
  const { packages } = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8"));
  const installed = Object.entries<{ dev?: boolean; devOptional?: boolean }>(packages).flatMap(
    ([path, { dev, devOptional }]) =>
      /^node_modules\/(@[^/]+\/)?[^/]+$/.test(path) && !dev && !devOptional ? [path] : [],
  );
  for (const path of installed) {
    const link = join(folder, path.slice("node_modules/".length));
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(root, path), link);
  }
}

const ways: readonly [way: string, folder: () => string][] = [
  ["from a checkout", () => join(root, "bin")],
  ["from the archive of a release", () => unpacked],
  ["from the npm package", () => linked],
];

const kubectlWith = (folder: string, args: readonly string[], env: Record<string, string> = {}): Promise<Ended> => {
  const path = [folder, dirname(process.execPath), "/usr/bin", "/bin"].join(delimiter);
  return run(kubectl, args, { cwd: directory, env: { PATH: path, HOME: directory, ...env } });
};

describe.each(ways)("%s", (_, folder) => {
  test("kubectl finds the plug-in, and has nothing to say of it", async () => {
    const { code, stdout, stderr } = await kubectlWith(folder(), ["plugin", "list"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain(join(folder(), "kubectl-tunnelgateway"));
  });

  test("its output is its own, under the name by which it is called", async () => {
    const { stdout } = await kubectlWith(folder(), ["tunnelgateway", "version", "-o", "json"]);
    expect(JSON.parse(stdout)).toMatchObject({ version });
    expect((await kubectlWith(folder(), ["tunnelgateway"])).stdout).toMatch(/^Usage: kubectl tunnelgateway /);
  });
});

test("a link to the plug-in of a checkout, or of an archive, is as good", async () => {
  for (const folder of [join(root, "bin"), unpacked]) {
    const links = await mkdtemp(join(directory, "links-"));
    await symlink(join(folder, "kubectl-tunnelgateway"), join(links, "kubectl-tunnelgateway"));
    expect((await kubectlWith(links, ["tunnelgateway", "version"])).stdout).toContain(version);
  }
});

test("npm start prints nothing of its own beside the output of a command", async () => {
  expect(JSON.parse(await succeeded("npm", ["start", "--", "version", "-o", "json"]))).toMatchObject({ version });
});

test("a reader who has seen enough ends a command without a word", async () => {
  const launcher = join(unpacked, "kubectl-tunnelgateway");
  const child = spawn(launcher, ["--help"], { stdio: ["ignore", "pipe", "pipe"] });
  // long before the program has started
  child.stdout.destroy();
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, "close")]);
  expect({ code, stderr }).toEqual({ code: 141, stderr: "" });
});

test("without Node, and with an old one, it says which one it needs", async () => {
  const { engines } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  const [needed] = /\d+\.\d+/.exec(engines.node) ?? [];
  const launcher = join(unpacked, "kubectl-tunnelgateway");
  const none = await run(launcher, ["version"], { env: { PATH: directory } });
  expect(none).toMatchObject({ code: 1, stderr: expect.stringContaining(`Node.js ${needed} or newer`) });

  const old = `data:text/javascript,Object.defineProperty(process.versions, "node", { value: "20.18.1" })`;
  const env = {
    PATH: [dirname(process.execPath), "/usr/bin", "/bin"].join(delimiter),
    NODE_OPTIONS: `--import=${encodeURI(old)}`,
  };
  const { code, stderr } = await run(launcher, ["version"], { env });
  expect(code).toBe(1);
  expect(stderr.trim().split("\n")).toEqual([expect.stringContaining(`Node.js ${needed} or newer`)]);
});

test("the manifest of krew names this archive, and what is in it", async () => {
  const { metadata, spec } = parse(await readFile(join(directory, "tunnelgateway.yaml"), "utf8"));
  const [platform] = spec.platforms;
  const archive = `kubectl-tunnelgateway-${version}.tar.gz`;
  expect(metadata.name).toBe("tunnelgateway");
  expect(spec.version).toBe(`v${version}`);
  expect(spec.shortDescription.length).toBeLessThanOrEqual(50);
  expect(platform.uri).toBe(
    `https://github.com/somebody/tunnel-gateway-operator/releases/download/v${version}/${archive}`,
  );
  const digest = createHash("sha256").update(await readFile(join(directory, archive)));
  expect(platform.sha256).toBe(digest.digest("hex"));
  expect(platform.files).toEqual([{ from: `kubectl-tunnelgateway-${version}/*`, to: "." }]);
  expect((await stat(join(unpacked, platform.bin))).mode & 0o111).toBe(0o111);
});

test("the page on how to get it says what works", async () => {
  const folder = await mkdtemp(join(directory, "reader-"));
  const tools = join(folder, "tools");
  await mkdir(tools);
  // what takes from a registry, or from the site of krew, is only looked at
  for (const name of ["kubectl-krew", "npm", "docker"]) {
    await writeFile(join(tools, name), '#!/bin/sh\necho "$@"\n', { mode: 0o755 });
  }
  await symlink(kubectl, join(tools, "kubectl"));
  const path = [tools, dirname(process.execPath), "/usr/bin", "/bin"].join(delimiter);
  const substitutions = new Map([["$REPOSITORY/releases/download/v$VERSION", `file://${directory}`]]);
  const shell = new Shell(folder, { env: { PATH: path, HOME: folder }, substitutions });
  const page = await Page.read("docs/plugin.md", shell);

  await page.run("Get the commands");
  expect(await page.run("krew")).toBe(`install --manifest-url=file://${directory}/tunnelgateway.yaml\n`);
  await stat(join(directory, "tunnelgateway.yaml"));
  expect(await page.run("npm")).toBe(`install --global tunnel-gateway-operator@${version}\n`);
  expect(await page.run("The archive of a release")).toContain("Usage: kubectl tunnelgateway ");
  expect(await page.run("The image")).toContain(`tunnel-gateway-operator:${version} status`);

  const checkout = new Shell(root, { env: { PATH: path, HOME: folder }, substitutions: new Map() });
  const again = await Page.read("docs/plugin.md", checkout);
  await rm(join(tools, "npm"));
  expect(await again.run("A checkout")).toContain("Usage: kubectl tunnelgateway ");
  expect(page.unused).toEqual(["A checkout (console)"]);
});
