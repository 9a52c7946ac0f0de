import { plain, plainJSON } from "./plain.ts";
import { cut } from "./table.ts";
import type { Terminal } from "./terminal.ts";
import { wrapped } from "./wrapped.ts";

/** One field of a remote, as plans and diffs show it. */
export interface FieldLine {
  sign: "+" | "~" | "-" | " ";
  path: string;
  /** Text of the values, one or both: the one that is replaced, and the one that takes its place. */
  from?: string;
  to?: string;
}

const INDENT = "      ";

/** Fields below a title, their values in one column. Values that are too wide for the terminal stand below the name. */
export function fieldLines(fields: readonly FieldLine[], terminal: Pick<Terminal, "columns">): string[] {
  const plainFields = fields.map((field) => ({ ...field, path: plain(field.path) }));
  const width = Math.max(0, ...plainFields.map(({ path }) => path.length));
  return plainFields
    .flatMap((field) => linesOf(field, width, terminal.columns))
    .map((line) => cut(line, terminal.columns));
}

function linesOf({ sign, path, from, to }: FieldLine, width: number, columns: number | undefined): string[] {
  const values = [from, to].filter((text) => text !== undefined);
  const line = `${INDENT}${sign} ${path.padEnd(width)}  ${values.join(" → ")}`;
  if (columns === undefined || line.length <= columns) return [line];
  const below = (text: string, sign: string) => {
    const [first = "", ...rest] = wrapped(text, columns, `${INDENT}      `);
    return [`${INDENT}    ${sign} ${first.trimStart()}`, ...rest];
  };
  return [`${INDENT}${sign} ${path}`, ...values.flatMap((text, index) => below(text, index > 0 ? "→" : " "))];
}

/** More than people read of a value. `-o json` has all of it. */
const MOST_SHOWN = 1000;

/** A value of a field, as people read it. */
export function valueText(value: unknown): string {
  const text = JSON.stringify(value) ?? "";
  const more = text.length - MOST_SHOWN;
  return more > 0 ? `${plainJSON(text.slice(0, MOST_SHOWN))}… (${more} characters more)` : plainJSON(text);
}
