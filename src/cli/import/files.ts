import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { textOf } from "../../runtime/log.ts";
import { CommandError } from "../terminal/terminal.ts";

/**
 * Writes files to a folder. A file that is there already with another text may have been edited, so nothing is written
 * then, unless `overwrite` is set. Throws CommandError, which names these files.
 */
export async function writeFiles(
  folder: string,
  files: ReadonlyMap<string, string>,
  overwrite: boolean,
): Promise<void> {
  await mkdir(folder, { recursive: true }).catch((error: unknown) => {
    throw new CommandError(`Give another -o: ${textOf(error)}`);
  });
  const changed: string[] = [];
  const missing: string[] = [];
  for (const [name, text] of files) {
    const present = await readFile(join(folder, name), "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined;
      throw new CommandError(`Give another -o: ${textOf(error)}`);
    });
    if (present === undefined) missing.push(name);
    else if (present !== text) changed.push(name);
  }
  if (changed.length > 0 && !overwrite)
    throw new CommandError(
      `Give another -o, or --overwrite: ${folder} has other texts in ${changed.join(", ")}. Nothing was written`,
    );
  for (const name of missing) await put(folder, name, files, "wx");
  for (const name of changed) await put(folder, name, files, "w");
}

/** `wx` fails where somebody has made the file meanwhile. */
const put = (folder: string, name: string, files: ReadonlyMap<string, string>, flag: "w" | "wx"): Promise<void> =>
  writeFile(join(folder, name), files.get(name) ?? "", { flag }).catch((error: unknown) => {
    throw new CommandError(`Give another -o: ${textOf(error)}`);
  });
