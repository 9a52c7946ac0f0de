import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const root = join(import.meta.dirname, "../..");

/** The version in package.json. */
export async function version(): Promise<string> {
  return (JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { version: string }).version;
}

/** The commit of the sources: the image has it in a file, and a checkout in git. Undefined: it is not known. */
export async function commit(): Promise<string | undefined> {
  const said = await readFile(join(import.meta.dirname, "../commit"), "utf8").catch(() => "");
  if (said.trim() !== "" || !existsSync(join(root, ".git"))) return said.trim().slice(0, SHORT) || undefined;
  const git = promisify(execFile)("git", ["rev-parse", `--short=${SHORT}`, "HEAD"], { cwd: root });
  return await git.then(({ stdout }) => stdout.trim()).catch(() => undefined);
}

const SHORT = 8;
