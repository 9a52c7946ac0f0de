import { plain } from "./plain.ts";

const ESCAPE = "\x1b[";
const colours = { grey: "90", red: "31", green: "32", yellow: "33" } as const;

export type Colour = keyof typeof colours;

/** One line of output. Nothing in its text ends the line, moves the cursor or sets a colour. */
export type Line = string | { readonly text: string; readonly colour: Colour };

/** One or several lines of output. */
export type Lines = Line | readonly Line[];

/**
 * The one mouth of all commands: text of strangers gets into what is printed everywhere, from the account, from objects
 * and from answers. Escapes and line ends of theirs are made visible; colours and line ends of ours are added after that.
 */
export const printed = (lines: Lines, hasColours: boolean): string =>
  (isMany(lines) ? lines : [lines]).map((line) => printedLine(line, hasColours)).join("\n");

const isMany = (lines: Lines): lines is readonly Line[] => Array.isArray(lines);

function printedLine(line: Line, hasColours: boolean): string {
  if (typeof line === "string") return plain(line);
  const text = plain(line.text);
  return hasColours ? `${ESCAPE}${colours[line.colour]}m${text}${ESCAPE}0m` : text;
}
