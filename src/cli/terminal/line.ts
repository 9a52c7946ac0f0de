import { plain } from "./plain.ts";
import { wrappedLine } from "./wrapped.ts";

const ESCAPE = "\x1b[";
const colours = { grey: "90", red: "31", green: "32", yellow: "33" } as const;

export type Colour = keyof typeof colours;

/**
 * One line of output. Nothing in its text ends the line, moves the cursor or sets a colour. `isWhole`: it is never broken,
 * since it is a program's text.
 */
export type Line = string | { readonly text: string; readonly colour?: Colour; readonly isWhole?: true };

/** One or several lines of output. */
export type Lines = Line | readonly Line[];

/**
 * The one mouth of all commands: text of strangers gets into what is printed everywhere, from the account, from objects
 * and from answers. Escapes and line ends of theirs are made visible; colours and line ends of ours are added after that.
 */
export const printed = (lines: Lines, hasColours: boolean): string =>
  linesIn(lines)
    .map((line) => printedLine(line, hasColours))
    .join("\n");

/** The lines for people, each broken as `wrappedLine` does. */
export const wrappedLines = (lines: Lines, columns: number | undefined): Line[] =>
  linesIn(lines).flatMap((line): readonly Line[] => {
    if (typeof line === "string") return wrappedLine(line, columns);
    return line.isWhole ? [line] : wrappedLine(line.text, columns).map((text) => ({ ...line, text }));
  });

const linesIn = (lines: Lines): readonly Line[] => (isMany(lines) ? lines : [lines]);

const isMany = (lines: Lines): lines is readonly Line[] => Array.isArray(lines);

function printedLine(line: Line, hasColours: boolean): string {
  if (typeof line === "string") return plain(line);
  const text = plain(line.text);
  return hasColours && line.colour ? `${ESCAPE}${colours[line.colour]}m${text}${ESCAPE}0m` : text;
}
