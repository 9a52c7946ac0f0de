import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";

const root = join(import.meta.dirname, "../..");

/** The flags of node in the image, and the heap limit that node chooses for the memory limit of the chart. */
export const nodeFlags = async (): Promise<string[]> => [...(await imageFlags()), await heapLimit()];

async function imageFlags(): Promise<string[]> {
  const text = await readFile(join(root, "Dockerfile"), "utf8");
  const entrypoint = text.match(/^ENTRYPOINT (\[.*\])$/m)?.[1];
  if (!entrypoint) throw new Error("The Dockerfile has no ENTRYPOINT that is a list");
  return (JSON.parse(entrypoint) as string[]).filter((arg) => arg.startsWith("-"));
}

/** In a container, node limits the heap to half of the memory. */
async function heapLimit(): Promise<string> {
  const text = await readFile(join(root, "charts/tunnel-gateway-operator/values.yaml"), "utf8");
  const { memory } = parse(text).resources.limits as { memory: string };
  if (!/^\d+Mi$/.test(memory)) throw new Error(`The chart limits memory to ${memory}, which is not in Mi`);
  return `--max-old-space-size=${Number.parseInt(memory, 10) / 2}`;
}
