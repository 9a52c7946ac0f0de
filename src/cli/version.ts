import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** The version in package.json. */
export async function version(): Promise<string> {
  const path = join(import.meta.dirname, "../../package.json");
  return (JSON.parse(await readFile(path, "utf8")) as { version: string }).version;
}
