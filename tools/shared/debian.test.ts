import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { debianPrograms } from "./debian.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "debian-"));
});
afterEach(() => rm(folder, { recursive: true }));

const bin = () => join(folder, "bin");
const cached = () => join(folder, "cache/tunnel-gateway-operator/debian-watcher");

async function script(path: string, text = "exit 0"): Promise<void> {
  await mkdir(join(path, ".."), { recursive: true });
  await writeFile(path, `#!/bin/sh\n${text}\n`);
  await chmod(path, 0o755);
}

const environment = (env: Record<string, string>) => ({ PATH: bin(), XDG_CACHE_HOME: join(folder, "cache"), ...env });

const find = (env: Record<string, string> = {}, libraries = false) =>
  debianPrograms("watcher", ["watch", "look"], { env: environment(env), libraries });

describe("programs of a package", () => {
  it("are those on the PATH", async () => {
    await script(join(bin(), "watch"));
    await script(join(bin(), "look"));
    expect(await find()).toEqual({ watch: join(bin(), "watch"), look: join(bin(), "look") });
  });

  it("are those of the cache, if one of them is not on the PATH", async () => {
    await script(join(bin(), "watch"));
    await script(join(cached(), "usr/bin/watch"));
    await script(join(cached(), "usr/sbin/look"));
    expect(await find()).toEqual({ watch: join(cached(), "usr/bin/watch"), look: join(cached(), "usr/sbin/look") });
  });

  it("are found in further folders too, of the machine and of the cache", async () => {
    await script(join(cached(), "usr/lib/cni/watch"));
    const folders = ["usr/lib/cni"];
    const some = debianPrograms("watcher", ["watch"], { env: environment({}), folders });
    expect(await some).toEqual({ watch: join(cached(), "usr/lib/cni/watch") });
    const own = debianPrograms("watcher", ["look"], { env: environment({}), folders: [join(folder, "machine")] });
    expect(await own).toBeUndefined();
    await script(join(folder, "machine/look"));
    const again = debianPrograms("watcher", ["look"], { env: environment({}), folders: [join(folder, "machine")] });
    expect(await again).toEqual({ look: join(folder, "machine/look") });
  });

  it("are undefined outside CI, and nothing is written", async () => {
    expect(await find()).toBeUndefined();
    expect(await readdir(folder)).toEqual([]);
  });

  describe("in CI", () => {
    const aptGet = (...lines: string[]) => script(join(bin(), "apt-get"), lines.join("\n"));
    const arrives = ": > watcher_1.0_amd64.deb";

    // as `dpkg --extract FILE DIRECTORY` would
    beforeEach(() =>
      script(
        join(bin(), "dpkg"),
        '/bin/mkdir -p "$3/usr/bin"; cd "$3/usr/bin"; : > watch; : > look; /bin/chmod 755 watch look',
      ),
    );

    it("are unpacked into the cache", async () => {
      await aptGet(arrives);
      expect(await find({ CI: "true" })).toEqual({
        watch: join(cached(), "usr/bin/watch"),
        look: join(cached(), "usr/bin/look"),
      });
      expect(await readdir(join(cached(), ".."))).toEqual(["debian-watcher"]);
    });

    it("are downloaded by new lists of packages, if those of the machine are of no use", async () => {
      await aptGet('case "$*" in', '"download watcher") exit 100;;', `*download*) ${arrives};;`, "esac");
      expect(await find({ CI: "true" })).toBeDefined();
    });

    it("come with the packages that the machine lacks, if they are asked for", async () => {
      const both = ": > watcher_1.0_amd64.deb; : > libwatch_1.0_amd64.deb";
      await aptGet(
        'case "$*" in',
        "*--simulate*) echo 'Inst libwatch (1.0 Debian)'; echo 'Inst watcher (1.0 Debian)'; echo 'Conf watcher';;",
        `"download libwatch watcher") ${both};;`,
        "*) exit 100;;",
        "esac",
      );
      expect(await find({ CI: "true" }, true)).toBeDefined();
    });

    it("fail the run, if the package cannot be had, and nothing is left in the cache", async () => {
      await aptGet("exit 100");
      await expect(find({ CI: "true" })).rejects.toThrow("The package watcher cannot be had in CI");
      expect(await readdir(join(cached(), ".."))).toEqual([]);
    });
  });
});
