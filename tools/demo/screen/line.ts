/** A piece of a line in one style. */
export interface Span {
  readonly text: string;
  readonly style?: Style | undefined;
}

export type Style = "bold" | "dim" | "green" | "yellow" | "red";

/** A line before it is known whether the output has colours and how wide it is. */
export type Line = readonly Span[];

export const line = (text: string, style?: Style): Line => [{ text, style }];

export const plain = (spans: Line): string => spans.map(({ text }) => text).join("");

/** Cuts a line to a number of characters. The last character of a line that was cut is `…`. */
export function clip(spans: Line, width: number): Line {
  if (plain(spans).length <= width) return spans;
  const clipped: Span[] = [];
  let left = width - 1;
  for (const { text, style } of spans) {
    clipped.push({ text: text.slice(0, left), style });
    left -= text.length;
    if (left <= 0) break;
  }
  return [...clipped, { text: "…", style: "dim" }];
}

/** Breaks a line at its spaces. What follows is indented. A word that is wider than a line stays whole. */
export function wrap(spans: Line, width: number, indent: number): Line[] {
  const lines: Span[][] = [[]];
  let column = 0;
  for (const { text, style } of spans) {
    // words with the spaces before them; an arrow stays with the word to which it leads
    for (const word of text.match(/ *(?:→ )?[^ ]+| +$/g) ?? []) {
      const isFirst = column === 0;
      if (!isFirst && column + word.length > width) {
        lines.push([{ text: " ".repeat(indent) }, { text: word.trimStart(), style }]);
        column = indent + word.trimStart().length;
      } else {
        lines.at(-1)?.push({ text: word, style });
        column += word.length;
      }
    }
  }
  return lines;
}

/** Aligns cells in columns, with two spaces between columns and none at the end of a line. */
export function columns(rows: readonly (readonly Span[])[], indent = 2): Line[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [at, { text }] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, text.length);
  }
  return rows.map((row) => {
    const last = row.findLastIndex(({ text }) => text !== "");
    const cells = row.slice(0, last + 1).map(({ text, style }, at) => {
      return { text: at === last ? text.trimEnd() : text.padEnd((widths[at] ?? 0) + 2), style };
    });
    return [{ text: " ".repeat(indent) }, ...cells];
  });
}
