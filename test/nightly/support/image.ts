import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { toolsCache } from "../../../tools/cluster/build/cache.ts";
import type { NodePrograms } from "./node-programs.ts";

const root = join(import.meta.dirname, "../../..");

/** Names that no registry has. */
export const IMAGE = { repository: "localhost/tunnel-gateway-operator", tag: "test" } as const;
export const PAUSE = "localhost/pause:test";

/**
 * Builds the image of the Dockerfile, and one with which the runtime keeps the namespaces of a pod. Resolves with an
 * archive of each. The base image comes from its registry; the variable `NODE_IMAGE` names another one that has Node and
 * npm, for a machine that reaches none.
 */
export async function buildImages(programs: NodePrograms, directory: string): Promise<string[]> {
  const policy = join(directory, "policy.json");
  await writeFile(policy, JSON.stringify({ default: [{ type: "insecureAcceptAnything" }] }));
  const storage = join(toolsCache(), "buildah");
  const places = ["--storage-driver=overlay", `--root=${storage}`, `--runroot=${join(directory, "buildah")}`];
  const buildah = (command: string, ...args: string[]) =>
    programs.run("buildah", [...places, command, `--signature-policy=${policy}`, ...args], { cwd: root });

  const image = `${IMAGE.repository}:${IMAGE.tag}`;
  const { NODE_IMAGE } = process.env;
  const base = NODE_IMAGE ? [`--build-arg=NODE_IMAGE=${NODE_IMAGE}`] : [];
  const platform = process.arch === "arm64" ? "linux/arm64" : "linux/amd64";
  const sandboxed = ["--isolation=chroot", "--network=host"];
  await buildah(
    "build",
    "--layers",
    ...sandboxed,
    `--build-arg=BUILDPLATFORM=${platform}`,
    ...base,
    `--tag=${image}`,
    ".",
  );

  const waiting = `FROM ${image}\nENTRYPOINT ["node", "--eval", "setInterval(() => 0, 1e9)"]\nCMD []\n`;
  const file = join(directory, "Pausefile");
  await writeFile(file, waiting);
  await buildah("build", ...sandboxed, `--file=${file}`, `--tag=${PAUSE}`, directory);

  return Promise.all(
    [image, PAUSE].map(async (name, index) => {
      const archive = join(directory, `image-${index}.tar`);
      await buildah("push", name, `oci-archive:${archive}:${name}`);
      return archive;
    }),
  );
}
