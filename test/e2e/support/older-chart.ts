import { cp, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { chart } from "./helm.ts";

/** A field of every kind that {@link olderChart} does not have. */
export const LATER_FIELD = "driftPolicy";

/**
 * A copy of the chart as an earlier version could have been: its definitions lack a field. History has no such chart
 * yet, and a clone may lack history.
 */
export async function olderChart(directory: string): Promise<string> {
  const older = join(directory, "older");
  await cp(chart, older, { recursive: true });
  await change(join(older, "Chart.yaml"), (text) => text.replaceAll(/ersion: 0\.\d+\.\d+$/gm, "ersion: 0.0.1"));
  const definitions = join(older, "templates/crds");
  for (const file of await readdir(definitions)) await change(join(definitions, file), withoutField);
  return older;
}

async function change(file: string, to: (text: string) => string): Promise<void> {
  await writeFile(file, to(await readFile(file, "utf8")));
}

/** Without the line that begins the field and those that are indented deeper. */
function withoutField(text: string): string {
  let depth = Number.POSITIVE_INFINITY;
  const kept = text.split("\n").filter((line) => {
    const indent = line.search(/\S|$/);
    if (indent <= depth) depth = line.trim() === `${LATER_FIELD}:` ? indent : Number.POSITIVE_INFINITY;
    return indent <= depth && depth === Number.POSITIVE_INFINITY;
  });
  return kept.join("\n");
}
