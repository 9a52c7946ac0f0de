import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";

const root = join(import.meta.dirname, "../..");

const dockerfile = (): Promise<string> => readFile(join(root, "Dockerfile"), "utf8");

/** The flags of node in the image. */
export async function imageFlags(): Promise<string[]> {
  const entrypoint = (await dockerfile()).match(/^ENTRYPOINT (\[.*\])$/m)?.[1];
  if (!entrypoint) throw new Error("The Dockerfile has no ENTRYPOINT that is a list");
  return (JSON.parse(entrypoint) as string[]).filter((arg) => arg.startsWith("-"));
}

/** The environment that the image sets. */
export async function imageEnvironment(): Promise<Record<string, string>> {
  const given = (await dockerfile())
    .match(/^ENV (.*)$/gm)
    ?.at(-1)
    ?.slice("ENV ".length);
  if (!given) throw new Error("The Dockerfile sets no environment");
  return Object.fromEntries(given.split(" ").map((pair) => pair.split("=", 2)));
}

/** The heap limit that node chooses in a container with the memory limit of the chart: half of it. */
export async function heapLimit(): Promise<string> {
  const text = await readFile(join(root, "charts/tunnel-gateway-operator/values.yaml"), "utf8");
  const { memory } = parse(text).resources.limits as { memory: string };
  if (!/^\d+Mi$/.test(memory)) throw new Error(`The chart limits memory to ${memory}, which is not in Mi`);
  return `--max-old-space-size=${Number.parseInt(memory, 10) / 2}`;
}
