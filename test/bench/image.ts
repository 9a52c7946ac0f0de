import { readFile } from "node:fs/promises";
import { join } from "node:path";

const DOCKERFILE = join(import.meta.dirname, "../../Dockerfile");

/** What the image gives to node before the program. */
export async function imageFlags(): Promise<string[]> {
  const entrypoint = (await readFile(DOCKERFILE, "utf8")).match(/^ENTRYPOINT (\[.*\])$/m)?.[1];
  if (!entrypoint) throw new Error("The Dockerfile has no ENTRYPOINT that is a list");
  const [, ...args] = JSON.parse(entrypoint) as string[];
  return args.filter((arg) => arg.startsWith("-"));
}
