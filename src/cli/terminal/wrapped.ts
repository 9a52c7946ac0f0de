import { plain } from "./plain.ts";

/**
 * A text on lines that are no wider than the terminal, each with this indent. It is broken between words, and a word only
 * where it is too long for a line. `columns` unset: one line.
 */
export function wrapped(text: string, columns: number | undefined, indent = ""): string[] {
  if (columns === undefined) return [`${indent}${plain(text)}`];
  const width = Math.max(columns - indent.length, 1);
  const lines: string[] = [];
  let rest = plain(text);
  while (rest.length > width) {
    const space = rest.lastIndexOf(" ", width);
    const end = space > 0 ? space : width;
    lines.push(rest.slice(0, end));
    rest = rest.slice(end).trimStart();
  }
  return [...lines, rest].map((line) => `${indent}${line}`);
}
