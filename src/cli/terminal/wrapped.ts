import { plain } from "./plain.ts";

/** What a line of two columns has before the second one. */
const FIRST_COLUMN = /^ *\S.*? {2,}(?=\S)/;
/** Most characters of a first column. Only so many are searched: a line of a million spaces would take an hour. */
const WIDEST = 200;
/** Fewer characters of a second column in one line are hard to read: what is left of it begins at the indent. */
const LEAST = 30;

/**
 * A text on lines that are no wider than the terminal, the first with the indent and the others with what stands `below`
 * it. It is broken between words, and a word only where it is too long for a line. `columns` unset: one line.
 */
export function wrapped(text: string, columns: number | undefined, indent = "", below = indent): string[] {
  if (columns === undefined) return [`${indent}${plain(text)}`];
  const lines: string[] = [];
  let begin = indent;
  let rest = plain(text);
  for (;;) {
    const width = Math.max(columns - begin.length, 1);
    if (rest.length <= width) return [...lines, `${begin}${rest}`];
    const space = rest.lastIndexOf(" ", width);
    const end = space > 0 ? space : width;
    lines.push(`${begin}${rest.slice(0, end).trimEnd()}`);
    rest = rest.slice(end).trimStart();
    begin = below;
  }
}

/** A line that has its indent, as `wrapped`. What goes on stands below its second column if it has two. */
export function wrappedLine(line: string, columns: number | undefined): string[] {
  const indent = indentOf(line);
  const below = belowOf(line);
  const isWide = columns === undefined || below.length + LEAST <= columns;
  return wrapped(line.slice(indent.length), columns, indent, isWide ? below : indent);
}

/** The lines of a text written by hand, as `wrappedLine`. Lines that only go on with the one before are one with it. */
export function wrappedText(text: string, columns: number | undefined): string[] {
  const lines: string[] = [];
  for (const line of text.split("\n")) {
    const before = lines.at(-1) ?? "";
    const goesOn =
      before !== "" && line !== "" && firstColumnOf(line) === undefined && indentOf(line) === belowOf(before);
    lines.push(goesOn ? `${lines.pop()} ${line.trimStart()}` : line);
  }
  return lines.flatMap((line) => wrappedLine(line, columns));
}

const firstColumnOf = (line: string): string | undefined => FIRST_COLUMN.exec(line.slice(0, WIDEST))?.[0];

const indentOf = (line: string): string => /^ */.exec(line)?.[0] ?? "";

const belowOf = (line: string): string => " ".repeat((firstColumnOf(line) ?? indentOf(line)).length);
