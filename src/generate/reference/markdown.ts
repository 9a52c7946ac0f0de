/** Text for a cell of a table: bars and angle brackets outside code would be taken for syntax. */
export const cell = (text: string): string =>
  text
    .replaceAll("|", "\\|")
    .split(/(`[^`]*`)/)
    .map((part) => (part.startsWith("`") ? part : part.replaceAll("<", "&lt;")))
    .join("")
    .replace(/\s*\n\s*/g, " ");

export const code = (text: string): string => `\`${text}\``;

export const codes = (texts: readonly string[]): string => texts.map(code).join(", ");

/** Rows of cells that are Markdown already, except for bars and angle brackets. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(" | ")} |`;
  return [line(head), `|${head.map(() => "---").join("|")}|`, ...rows.map(line)].join("\n");
}

/** `ReservedDomain` is `reserved-domain`, `IPPolicy` is `ip-policy`. */
export const kebab = (name: string): string =>
  name
    .replace(/([a-z0-9])([A-Z])/g, "$1-$2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1-$2")
    .toLowerCase();

/** A page of paragraphs; empty ones are left out. */
export const page = (...paragraphs: readonly string[]): string => `${paragraphs.filter(Boolean).join("\n\n")}\n`;
