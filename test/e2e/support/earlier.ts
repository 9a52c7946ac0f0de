import { readdirSync } from "node:fs";
import { cp, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { examples } from "../../../tools/shared/examples.ts";
import type { KubeJSON } from "../../../tools/shared/objects.ts";
import { chart, objectsIn } from "./helm.ts";

/** The chart and examples of an earlier version. */
export interface Earlier {
  /** The folder of the chart. */
  readonly chart: string;
  /** Its examples. */
  readonly objects: readonly KubeJSON[];
}

/** An earlier version from which users may upgrade. */
export interface EarlierVersion {
  readonly name: string;
  /**
   * Whether it is a copy of the present version without one field, so that its definitions differ as little as
   * possible.
   */
  readonly isCopy: boolean;
  /** Unpacks it into this empty folder. */
  readonly unpack: (directory: string) => Promise<Earlier>;
}

/** A field of every kind that the copy of {@link earlierVersions} does not have. */
export const LATER_FIELD = "driftPolicy";

/** Releases, as `.ci/keep` has kept them. */
export const RELEASES = join(import.meta.dirname, "../releases");

/** The versions that are kept in a folder. */
export const keptIn = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));

/** All released versions, and a copy of the present one that lacks a field. */
export const earlierVersions = (releases = RELEASES): EarlierVersion[] => [
  { name: "a copy that lacks a field", isCopy: true, unpack: copy },
  ...keptIn(releases).map((name) => ({ name, isCopy: false, unpack: () => kept(join(releases, name)) })),
];

const kept = async (folder: string): Promise<Earlier> => ({
  chart: join(folder, "chart"),
  objects: objectsIn(await readFile(join(folder, "examples.yaml"), "utf8")),
});

/** A copy of the present chart as an earlier version could have been. */
async function copy(directory: string): Promise<Earlier> {
  const older = join(directory, "older");
  await cp(chart, older, { recursive: true });
  await change(join(older, "Chart.yaml"), (text) => text.replaceAll(/ersion: 0\.\d+\.\d+$/gm, "ersion: 0.0.1"));
  const definitions = join(older, "templates/crds");
  for (const file of await readdir(definitions)) await change(join(definitions, file), withoutField);
  return { chart: older, objects: (await examples()).map(withoutLater) };
}

async function change(file: string, to: (text: string) => string): Promise<void> {
  await writeFile(file, to(await readFile(file, "utf8")));
}

/** Removes the line of the field and all lines that are indented deeper. */
function withoutField(text: string): string {
  let depth = Number.POSITIVE_INFINITY;
  const kept = text.split("\n").filter((line) => {
    const indent = line.search(/\S|$/);
    if (indent <= depth) depth = line.trim() === `${LATER_FIELD}:` ? indent : Number.POSITIVE_INFINITY;
    return indent <= depth && depth === Number.POSITIVE_INFINITY;
  });
  return kept.join("\n");
}

function withoutLater(object: KubeJSON): KubeJSON {
  const { [LATER_FIELD]: _, ...spec } = object.spec ?? {};
  return object.spec ? { ...object, spec } : object;
}
