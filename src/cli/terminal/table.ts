import { plain } from "./plain.ts";
import { wrapped } from "./wrapped.ts";

const GAP = "   ";
const INDENT = "    ";

export interface TableOptions {
  /** No line is wider; unset: lines are as wide as they are. */
  columns?: number | undefined;
  noHeaders?: boolean | undefined;
}

/**
 * Rows below headings, in columns as kubectl prints them. On a terminal that is too narrow, the last cell of a row stands
 * below the others.
 */
export function table(headings: readonly string[], rows: readonly (readonly string[])[], options: TableOptions = {}) {
  return tableRows(headings, rows, options).flat();
}

/** The rows of a table, each of several lines where its last cell stands below. */
export function tableRows(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  { columns, noHeaders }: TableOptions = {},
): string[][] {
  const plainRows = rows.map((cells) => cells.map(plain));
  const all = noHeaders ? plainRows : [headings.map((heading) => heading.toUpperCase()), ...plainRows];
  const widths = headings.map((_, index) => Math.max(0, ...all.map((cells) => cells[index]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join(GAP)
      .trimEnd();
  const lines = all.map(line);
  if (columns === undefined || headings.length < 2 || lines.every(({ length }) => length <= columns))
    return lines.map((one) => [one]);
  return all.map((cells, index) => {
    const isHeading = index === 0 && !noHeaders;
    const [last = ""] = isHeading ? [] : cells.slice(-1);
    const first = cut(line(cells.slice(0, -1)), columns);
    return last === "" ? [first] : [first, ...wrapped(last, columns, INDENT)];
  });
}

/** The text as it is printed, cut to the width of the terminal. */
export function cut(text: string, columns: number | undefined): string {
  const line = plain(text);
  return columns !== undefined && line.length > columns ? `${line.slice(0, Math.max(columns - 1, 0))}…` : line;
}
