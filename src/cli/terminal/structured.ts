import { kubernetesYAML, linesOf } from "./kubernetes-yaml.ts";
import { plainJSON } from "./plain.ts";
import { UsageError } from "./terminal.ts";

const formats = ["json", "yaml"] as const;

export type Format = (typeof formats)[number];

export const isFormat = (output: string | undefined): output is Format => formats.some((format) => format === output);

/** The format for programs that `-o` asks for; undefined: text for people. Throws UsageError for another one. */
export function formatOf(output: string | undefined): Format | undefined {
  if (output === undefined || isFormat(output)) return output;
  throw new UsageError("-o must be json or yaml");
}

/** The lines of an output for programs, which keeps to its schema in outputs.ts. */
export const structured = (value: object, format: Format): string[] =>
  linesOf(format === "yaml" ? kubernetesYAML(value) : plainJSON(JSON.stringify(value, undefined, 2)));
