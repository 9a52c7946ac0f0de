const section = /(<!-- kinds[^>]*-->\n)[\s\S]*(<!-- end of kinds -->)/;

/** A page with its table of kinds, which stands between two comments, made anew. Throws when it has no such place. */
export function withKinds(text: string, table: string): string {
  if (!section.test(text)) throw new Error("README.md has no place for the table of kinds");
  return text.replace(section, (_, start, end) => `${start}\n${table}\n\n${end}`);
}
