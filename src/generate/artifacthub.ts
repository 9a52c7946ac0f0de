import { parse, stringify } from "yaml";
import { GROUP, VERSION } from "../schema/contract.ts";
import type { CustomResource } from "../schema/define.ts";
import type { Example } from "./reference/examples.ts";

/** From this comment to the end, the annotations of Chart.yaml are generated. */
const section = /( {2}# kinds: [^\n]*\n)[\s\S]*$/;

/** Writes the kinds, and the first example of each, into the text of Chart.yaml, where Artifact Hub looks for them. */
export function withArtifactHub(
  text: string,
  customResources: readonly CustomResource[],
  examples: ReadonlyMap<string, Example>,
): string {
  if (!section.test(text)) throw new Error("Chart.yaml has no place for the kinds");
  const kinds = customResources.map(({ kind, plural, summary }) => ({
    kind,
    version: VERSION,
    name: `${plural}.${GROUP}`,
    displayName: kind,
    description: summary,
  }));
  const first = customResources.flatMap(({ kind }) => examples.get(kind) ?? []).map((example) => parse(example.text));
  const annotations = [annotation("crds", kinds), annotation("crdsExamples", first)];
  return text.replace(section, (_, start) => `${start}${annotations.join("")}`);
}

function annotation(name: string, value: unknown): string {
  const lines = stringify(value, { aliasDuplicateObjects: false, lineWidth: 0 }).trimEnd().split("\n");
  return `  artifacthub.io/${name}: |\n${lines.map((line) => `    ${line}`.trimEnd()).join("\n")}\n`;
}
