import type { Colour, Line } from "./line.ts";
import { cut } from "./table.ts";
import type { Terminal } from "./terminal.ts";
import { wrapped } from "./wrapped.ts";

/** A line cut to the width of the terminal, in a colour where it takes colours. */
export const coloured = (text: string, colour: Colour | undefined, { columns }: Pick<Terminal, "columns">): Line =>
  painted(cut(text, columns), colour);

/** A line in a colour where the terminal takes colours. */
export const painted = (text: string, colour: Colour | undefined): Line => (colour ? { text, colour } : text);

/** A text on as many lines as it takes. */
export const paragraph = (
  text: string,
  indent: string,
  colour: Colour | undefined,
  terminal: Pick<Terminal, "columns">,
  below = indent,
): Line[] => wrapped(text, terminal.columns, indent, below).map((line) => painted(line, colour));

/** The title of what stands below it. What does not fit goes on further in than that. */
export const titleLines = (text: string, colour: Colour | undefined, terminal: Pick<Terminal, "columns">): Line[] =>
  paragraph(text, "", colour, terminal, "        ");
