/** A text in one line. Angle brackets outside of code are escaped, and so is what would end an emphasis. */
export const text = (given: string): string =>
  given
    .split(/(`[^`]*`)/)
    .map((part) => (part.startsWith("`") ? part : part.replaceAll("<", "&lt;").replaceAll("*", "\\*")))
    .join("")
    .replace(/\s*\n\s*/g, " ");

/** The text of a table cell, in which bars are escaped too. */
export const cell = (given: string): string => text(given.replaceAll("|", "\\|"));

export const code = (text: string): string => `\`${text}\``;

export const codes = (texts: readonly string[]): string => texts.map(code).join(", ");

/** A table. The cells are Markdown in which bars and angle brackets are not escaped yet. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(" | ")} |`;
  return [line(head), `|${head.map(() => "---").join("|")}|`, ...rows.map(line)].join("\n");
}

/** `reserved-domain` for `ReservedDomain`, `ip-policy` for `IPPolicy`. */
export const kebab = (name: string): string =>
  name
    .replace(/([a-z0-9])([A-Z])/g, "$1-$2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1-$2")
    .toLowerCase();

/** Joins paragraphs; empty ones are left out. */
export const page = (...paragraphs: readonly string[]): string => `${paragraphs.filter(Boolean).join("\n\n")}\n`;
