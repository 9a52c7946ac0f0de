const GAP = "   ";

export interface TableOptions {
  /** Lines are cut to this width; unset: they are not cut. */
  columns?: number | undefined;
  noHeaders?: boolean | undefined;
}

/** Rows below headings, in columns as kubectl prints them. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[], options: TableOptions = {}) {
  const lines = options.noHeaders ? rows : [headings.map((heading) => heading.toUpperCase()), ...rows];
  const widths = headings.map((_, index) => Math.max(0, ...lines.map((line) => line[index]?.length ?? 0)));
  return lines
    .map((line) => line.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join(GAP))
    .map((line) => cut(line.trimEnd(), options.columns))
    .join("\n");
}

export const cut = (line: string, columns: number | undefined): string =>
  columns !== undefined && line.length > columns ? `${line.slice(0, Math.max(columns - 1, 0))}…` : line;
