import { customResources, kinds } from "../../kinds/index.ts";
import { GROUP } from "../../schema/contract.ts";
import type { CustomResource, Kind } from "../../schema/define.ts";
import { UsageError } from "../terminal/terminal.ts";

/** What a user names: an object of a kind, or an object or remote by its name or id alone. */
export interface Wanted {
  /** As the user wrote it. */
  text: string;
  kind?: Kind;
  name: string;
}

/** The objects that words name, as in kubectl: `KIND NAME...`, `KIND/NAME...`, or names and ids. Throws UsageError. */
export function wantedBy(words: readonly string[]): Wanted[] {
  const [first = "", ...names] = words;
  const isPlain = names.length > 0 && words.every((word) => !word.includes("/"));
  if (!isPlain) return words.map(wantedOf);
  const kind = kindNamed(first);
  if (kind) return names.map((name) => ({ text: `${first}/${name}`, kind, name }));
  if (similarTo(first) !== undefined || otherKind(first)) throw unknownKind(first);
  return words.map((word) => ({ text: word, name: word }));
}

function wantedOf(text: string): Wanted {
  const [first = "", ...names] = text.split("/");
  // ids have an underscore, some of them also a slash, and kinds have none of both
  if (names.length === 0 || first.includes("_")) return { text, name: text };
  const kind = kindNamed(first);
  if (!kind) throw unknownKind(first);
  return { text, kind, name: names.join("/") };
}

/** By its name, plural or short name, with or without its group. */
export const kindNamed = (text: string, among: readonly Kind[] = kinds): Kind | undefined => findNamed(text, among);

function findNamed<T extends Names>(text: string, among: readonly T[]): T | undefined {
  const given = text.toLowerCase().replace(SUFFIX, "");
  return among.find((kind) => namesOf(kind).includes(given));
}

const SUFFIX = new RegExp(`(\\.v1)?\\.${GROUP.replaceAll(".", "\\.")}$`);

type Names = Pick<CustomResource, "kind" | "plural" | "shortNames">;

const namesOf = ({ kind, plural, shortNames }: Names): string[] => [kind.toLowerCase(), plural, ...shortNames];

/** A kind whose objects stand for nothing that the commands find in the account, such as a GatewayAccount. */
const otherKind = (text: string): CustomResource | undefined =>
  findNamed(
    text,
    customResources.filter((one) => kinds.every(({ kind }) => kind !== one.kind)),
  );

export function unknownKind(text: string): UsageError {
  const other = otherKind(text);
  if (other)
    return new UsageError(`This is about what is in the account. For ${other.kind}: kubectl describe ${other.plural}`);
  const meant = similarTo(text);
  const hint = meant
    ? `Did you mean ${meant}?`
    : `Give one of ${kinds.map(({ kind }) => kind.toLowerCase()).join(", ")}`;
  return new UsageError(`There is no kind ${text}. ${hint}`);
}

/** The kind that was meant: with a few letters that differ, or with more at its end. */
export function similarTo(text: string): string | undefined {
  const given = text.toLowerCase().slice(0, LONGEST);
  const ranked = kinds
    .map((kind) => ({ kind, off: Math.min(...namesOf(kind).map((name) => distance(given, name))) }))
    .sort((one, other) => one.off - other.off);
  const [best] = ranked;
  const begun = given.length > 1 ? kinds.find(({ kind }) => kind.toLowerCase().startsWith(given)) : undefined;
  const close = best && best.off <= Math.min(MOST_OFF, given.length / 3) ? best.kind : undefined;
  return (close ?? begun)?.kind.toLowerCase();
}

const LONGEST = 40;
const MOST_OFF = 3;

/** How many letters have to be put in, left out or changed (Levenshtein). */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [at, letter] of [...one].entries()) {
    const next = [at + 1];
    for (const [index, another] of [...other].entries()) {
      const [left = 0, above = 0, diagonal = 0] = [next[index], row[index + 1], row[index]];
      next.push(Math.min(left + 1, above + 1, diagonal + Number(letter !== another)));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
