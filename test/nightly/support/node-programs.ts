import { delimiter, dirname } from "node:path";
import { debianPrograms, howToGet, librariesOf, type Programs } from "../../../tools/shared/debian.ts";
import { type Ended, type RunSettings, run } from "../../../tools/shared/run.ts";

const packages = {
  containerd: ["containerd", "containerd-shim-runc-v2", "ctr"],
  runc: ["runc"],
  // its bridge is not looked for: another program has that name too
  "containernetworking-plugins": ["host-local", "loopback"],
  buildah: ["buildah"],
  iproute2: ["ip"],
  // of the package util-linux, which every Debian has
  mount: ["umount"],
} as const;

type Program = (typeof packages)[keyof typeof packages][number];

/** The programs of a node, with the variables that they need. */
export class NodePrograms {
  readonly #paths: Programs<Program>;
  readonly env: Readonly<Record<string, string>>;

  private constructor(paths: Programs<Program>, libraries: readonly string[]) {
    this.#paths = paths;
    const folders = [...new Set(Object.values(paths).map((path) => dirname(path)))];
    this.env = {
      PATH: [...folders, process.env["PATH"]].join(delimiter),
      ...(libraries.length > 0 && { LD_LIBRARY_PATH: libraries.join(delimiter) }),
    };
  }

  /** Resolves with the reason in words where this machine has none. */
  static async find(): Promise<NodePrograms | string> {
    if (process.platform !== "linux" || process.getuid?.() !== 0)
      return "skipped, because a node needs Linux and the rights of root";
    const found: Partial<Record<Program, string>> = {};
    for (const [name, programs] of Object.entries(packages)) {
      const options = { libraries: true, folders: ["usr/lib/cni", "sbin", "bin"] };
      const some = await debianPrograms<Program>(name, programs, options);
      if (!some) return `skipped, because ${programs[0]} is missing: ${howToGet(name)}`;
      Object.assign(found, some);
    }
    const paths = found as Programs<Program>;
    const libraries = await Promise.all([paths.containerd, paths.runc, paths.buildah].map(librariesOf));
    return new NodePrograms(paths, [...new Set(libraries.flat())]);
  }

  path(program: Program): string {
    return this.#paths[program];
  }

  /** The folder of the CNI plug-ins. */
  get networks(): string {
    return dirname(this.#paths.loopback);
  }

  /** @throws with what it complained of, unless it ends with 0. */
  async run(program: Program, args: readonly string[], settings: RunSettings = {}): Promise<Ended> {
    const env = { ...process.env, ...this.env, ...settings.env };
    const ended = await run(this.path(program), args, { ...settings, env });
    if (ended.code !== 0)
      throw new Error(`${program} ${args[0]} failed (exit ${ended.code}): ${ended.stderr.slice(-2000)}`);
    return ended;
  }
}
