import { cut } from "./table.ts";
import type { Terminal } from "./terminal.ts";

const ESCAPE = "\x1b[";
const colours = { grey: "90", red: "31", green: "32", yellow: "33" } as const;

export type Colour = keyof typeof colours;

/** A line cut to the width of the terminal, in a colour where it takes colours. */
export function coloured(line: string, colour: Colour | undefined, terminal: Terminal): string {
  const text = cut(line, terminal.columns);
  return colour && terminal.hasColours ? `${ESCAPE}${colours[colour]}m${text}${ESCAPE}0m` : text;
}
