/** The text of a table cell. Bars are escaped, and so are angle brackets outside of code. */
export const cell = (text: string): string =>
  text
    .replaceAll("|", "\\|")
    .split(/(`[^`]*`)/)
    .map((part) => (part.startsWith("`") ? part : part.replaceAll("<", "&lt;")))
    .join("")
    .replace(/\s*\n\s*/g, " ");

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
