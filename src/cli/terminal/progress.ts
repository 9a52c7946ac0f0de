import { cut } from "./table.ts";

/** How many of all are done. */
export interface Part {
  done: number;
  all: number;
}

const WIDTH = 20;

/** One line, which is no wider than the terminal, or it could not be replaced. With a bar where the count is known. */
export function progressLine(text: string, part: Part | undefined, columns: number | undefined): string {
  const line = part && part.all > 0 ? `${barOf(part)} ${part.done} of ${part.all}  ${text}` : text;
  return cut(line, columns === undefined ? undefined : columns - 1);
}

function barOf({ done, all }: Part): string {
  const full = Math.min(WIDTH, Math.floor((done / all) * WIDTH));
  return "█".repeat(full) + "░".repeat(WIDTH - full);
}
