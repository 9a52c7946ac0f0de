import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Image } from "./pod-rules.ts";

/** The image of the Dockerfile. */
export async function ownImage(): Promise<Image> {
  const dockerfile = await readFile(join(import.meta.dirname, "../../Dockerfile"), "utf8");
  const user = /^USER (\S+)$/m.exec(dockerfile)?.[1] ?? "";
  return {
    user,
    // Pod runs the program so that a write to its file system fails
    writes: [],
    serves: ([command], { METRICS_ADDRESS = ":8080" }) =>
      command === "run" ? [Number(METRICS_ADDRESS.split(":").at(-1))] : [],
  };
}
