import { cut } from "./table.ts";
import type { Terminal } from "./terminal.ts";
import { wrapped } from "./wrapped.ts";

const ESCAPE = "\x1b[";
const colours = { grey: "90", red: "31", green: "32", yellow: "33" } as const;

export type Colour = keyof typeof colours;

/** A line cut to the width of the terminal, in a colour where it takes colours. */
export function coloured(
  line: string,
  colour: Colour | undefined,
  terminal: Pick<Terminal, "columns" | "hasColours">,
): string {
  return painted(cut(line, terminal.columns), colour, terminal);
}

/** A text in a colour where the terminal takes colours. Each of its lines is painted by itself, as pagers need it. */
export const painted = (text: string, colour: Colour | undefined, { hasColours }: Pick<Terminal, "hasColours">) =>
  colour && hasColours
    ? text
        .split("\n")
        .map((line) => `${ESCAPE}${colours[colour]}m${line}${ESCAPE}0m`)
        .join("\n")
    : text;

/** A text on as many lines as it takes. */
export const paragraph = (text: string, indent: string, colour: Colour | undefined, terminal: Terminal): string[] =>
  wrapped(text, terminal.columns, indent).map((line) => painted(line, colour, terminal));
