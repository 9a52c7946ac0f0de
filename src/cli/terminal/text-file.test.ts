import { chmod, link, lstat, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { run } from "../../../tools/shared/run.ts";
import { readTextFile, writeTextFile } from "./text-file.ts";

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "text-file-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  file = join(folder, "edge.yaml");
});

const names = () => readdir(folder);

describe("a file that a command writes", () => {
  it("is new, and nothing else is left beside it", async () => {
    await writeTextFile(await readTextFile(file), "one");
    expect([await readFile(file, "utf8"), await names()]).toEqual(["one", ["edge.yaml"]]);
  });

  it("is left as it is when somebody makes it meanwhile", async () => {
    const read = await readTextFile(file);
    await writeFile(file, "by hand");
    await expect(writeTextFile(read, "one")).rejects.toThrow(/^Run this again: somebody has changed .*edge\.yaml/);
    expect([await readFile(file, "utf8"), await names()]).toEqual(["by hand", ["edge.yaml"]]);
  });

  it("is left as it is when it is a link to nothing", async () => {
    await symlink(join(folder, "nowhere"), file);
    await expect(writeTextFile(await readTextFile(file), "one")).rejects.toThrow(/^Run this again/);
    expect(await names()).toEqual(["edge.yaml"]);
  });

  it.each(["edited", "deleted"])("is left as it is when it is %s between reading and writing", async (how) => {
    await writeFile(file, "one");
    const read = await readTextFile(file);
    await (how === "edited" ? writeFile(file, "by hand") : rm(file));
    await expect(writeTextFile(read, "two")).rejects.toThrow(/^Run this again: somebody has changed/);
    expect(await readFile(file, "utf8").catch(() => undefined)).toBe(how === "edited" ? "by hand" : undefined);
    expect(await names()).toEqual(how === "edited" ? ["edge.yaml"] : []);
  });

  it("keeps its mode, and a link stays a link", async () => {
    await writeFile(file, "one");
    await chmod(file, 0o640);
    const name = join(folder, "link.yaml");
    await symlink("edge.yaml", name);
    await writeTextFile(await readTextFile(name), "two");
    expect((await lstat(name)).isSymbolicLink()).toBe(true);
    expect((await stat(file)).mode & 0o7777).toBe(0o640);
    expect(await readFile(file, "utf8")).toBe("two");
  });

  it("is refused while it is a hard link", async () => {
    await writeFile(file, "one");
    await link(file, join(folder, "other.yaml"));
    await expect(writeTextFile(await readTextFile(file), "two")).rejects.toThrow(/hard link/);
    expect(await readFile(file, "utf8")).toBe("one");
  });

  it("is refused when it is not UTF-8, since it would be written as another text", async () => {
    await writeFile(file, Buffer.from([0x61, 0xff]));
    await expect(readTextFile(file)).rejects.toThrow(/^Save .*edge\.yaml as UTF-8/);
  });

  it("touches no file of the user's that happens to lie beside it", async () => {
    await writeFile(file, "one");
    await writeFile(`${file}.tmp`, "mine");
    await writeTextFile(await readTextFile(file), "two");
    expect(await readFile(`${file}.tmp`, "utf8")).toBe("mine");
  });

  it("is as before, with nothing half beside it, when the disk is full", async ({ skip }) => {
    const disk = join(folder, "disk");
    await mkdir(disk);
    const { code } = await run("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", disk]);
    if (code !== 0) skip("needs the right to mount");
    onTestFinished(() => run("umount", [disk]).then(() => {}));
    const full = join(disk, "edge.yaml");
    await writeFile(full, "one");
    await expect(writeTextFile(await readTextFile(full), "x".repeat(200_000))).rejects.toThrow(/ENOSPC/);
    expect([await readFile(full, "utf8"), await readdir(disk)]).toEqual(["one", ["edge.yaml"]]);
  });
});
