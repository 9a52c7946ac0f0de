import { plain } from "../../terminal/plain.ts";

/** A piece of a page. Only `html` makes it, so a text of somebody else cannot be one. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** What can stand in a template. Nothing is shown for what is undefined or false. */
export type Part = Html | string | number | undefined | false | readonly Part[];

/**
 * A piece of a page from a template. Each value in it is shown as the terminal shows it, with marks and controls that
 * people do not see written out (see `plain`), and is text or the whole of an attribute in quotes, whatever is in it.
 */
export const html = (pieces: TemplateStringsArray, ...parts: readonly Part[]): Html =>
  new Html(pieces.map((piece, index) => `${piece}${shown(parts[index])}`).join(""));

function shown(part: Part): string {
  if (part === undefined || part === false) return "";
  if (part instanceof Html) return part.text;
  if (Array.isArray(part)) return part.map(shown).join("");
  return plain(String(part)).replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** An address within this page. */
export function link(path: string, query: Readonly<Record<string, string | undefined>> = {}): string {
  const given = Object.entries(query).filter((one): one is [string, string] => Boolean(one[1]));
  const search = new URLSearchParams(given).toString();
  return search ? `${path}?${search}` : path;
}
