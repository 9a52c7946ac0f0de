import { kubernetesYAML, linesOf } from "./kubernetes-yaml.ts";
import type { Line } from "./line.ts";
import { plainJSON } from "./plain.ts";
import type { Terminal } from "./terminal.ts";

/** The values of `-o` wherever something is printed that programs read. */
export const structures = ["json", "yaml"] as const;

/** The values of `-o` wherever a list is printed, as kubectl has them. */
export const formats = [...structures, "name", "wide"] as const;

export interface OutputFlags {
  /** One of the values that the command offers. Unset: text for people. */
  output?: string;
  /** False: no headings. */
  headers?: boolean;
}

/** Where text for people goes, and how. */
export type Screen = Pick<Terminal, "columns" | "hasColours"> & { noHeaders?: boolean };

/** What a command has found, in each form in which it can be printed. */
export interface Output {
  /** Keeps to the schema of the command in outputs.ts. */
  value: () => object;
  names?: () => readonly string[];
  lines: (screen: Screen) => readonly Line[];
}

/** Prints in the form that `-o` asks for. Prints nothing where there is nothing, so that no empty line is in a pipe. */
export function print({ value, names, lines }: Output, { output, headers }: OutputFlags, terminal: Terminal): void {
  const text = isStructure(output)
    ? structured(value(), output)
    : output === "name"
      ? (names?.() ?? [])
      : lines(screenOf(output, headers, terminal));
  if (text.length > 0) terminal.say(text);
}

const screenOf = (output: string | undefined, headers: boolean | undefined, terminal: Terminal): Screen => ({
  columns: output === "wide" ? undefined : terminal.columns,
  hasColours: terminal.hasColours,
  noHeaders: headers === false,
});

const isStructure = (output: string | undefined): output is (typeof structures)[number] =>
  structures.some((one) => one === output);

export const structured = (value: object, format: (typeof structures)[number]): string[] =>
  linesOf(format === "yaml" ? kubernetesYAML(value) : plainJSON(JSON.stringify(value, undefined, 2)));
