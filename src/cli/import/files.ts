import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { textOf } from "../../runtime/log.ts";
import { CommandError } from "../terminal/terminal.ts";
import { readTextFile, writeTextFile } from "../terminal/text-file.ts";

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
  const present = await Promise.all([...files.keys()].map((name) => readTextFile(join(folder, name))));
  const all = [...files].map(([name, text], index) => ({
    name,
    text,
    file: present[index] ?? { name, text: undefined },
  }));
  const due = all.filter(({ text, file }) => file.text !== text);
  const changed = due.filter(({ file }) => file.text !== undefined).map(({ name }) => name);
  if (changed.length > 0 && !overwrite)
    throw new CommandError(
      `Give another -o, or --overwrite: ${folder} has other texts in ${changed.join(", ")}. Nothing was written`,
    );
  for (const { text, file } of due) await writeTextFile(file, text);
}
