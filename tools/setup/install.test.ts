import { spawnSync } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";

const script = join(import.meta.dirname, "install.mjs");
const a = { "node_modules/a": { integrity: "1" } };
const forOthers = { "node_modules/b": { integrity: "2", optional: true } };

/** Whether the script calls npm where these packages are wanted and those are installed. */
async function installs(wanted: object, installed: object | undefined): Promise<boolean> {
  const directory = await mkdtemp(join(tmpdir(), "install-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  await mkdir(join(directory, "node_modules"));
  const write = (name: string, packages: object) => writeFile(join(directory, name), JSON.stringify({ packages }));
  await write("package-lock.json", { "": {}, ...wanted });
  if (installed) await write("node_modules/.package-lock.json", installed);
  const npm = join(directory, "npm");
  await writeFile(npm, "#!/bin/sh\nexit 7\n");
  await chmod(npm, 0o755);
  const env = { PATH: `${directory}${delimiter}${process.env["PATH"]}` };
  return spawnSync(process.execPath, [script], { cwd: directory, env }).status === 7;
}

describe("the installation of the dependencies", () => {
  it.each([
    ["where there are none", a, undefined, true],
    ["where one is missing", a, {}, true],
    ["where one is another than in the lock file", a, { "node_modules/a": { integrity: "0" } }, true],
    ["never where all are there", a, a, false],
    ["never for packages of other platforms", { ...a, ...forOthers }, a, false],
  ])("happens %s", async (_, wanted, installed, expected) => {
    expect(await installs(wanted, installed)).toBe(expected);
  });

  it("leaves the folder alone that a link called node_modules leads to", async () => {
    const directory = await mkdtemp(join(tmpdir(), "install-"));
    onTestFinished(() => rm(directory, { recursive: true }));
    await mkdir(join(directory, "shared"));
    await symlink("shared", join(directory, "node_modules"));
    await writeFile(join(directory, "package-lock.json"), JSON.stringify({ packages: a }));
    await writeFile(join(directory, "npm"), "#!/bin/sh\nmkdir node_modules && touch node_modules/installed\n");
    await chmod(join(directory, "npm"), 0o755);
    const env = { PATH: `${directory}${delimiter}${process.env["PATH"]}` };
    expect(spawnSync(process.execPath, [script], { cwd: directory, env }).status).toBe(0);
    expect(await readdir(join(directory, "shared"))).toEqual([]);
    expect(await readdir(join(directory, "node_modules"))).toEqual(["installed"]);
  });
});
