const section = /(<!-- kinds[^>]*-->\n)[\s\S]*(<!-- end of kinds -->)/;

/** Replaces the table of kinds, which is between two comments in `text`. Throws when they are missing. */
export function withKinds(text: string, table: string): string {
  if (!section.test(text)) throw new Error("README.md has no place for the table of kinds");
  return text.replace(section, (_, start, end) => `${start}\n${table}\n\n${end}`);
}
