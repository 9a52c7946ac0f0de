import type * as z from "zod";
import { memoize } from "../memoize.ts";
import type { SharedTrait } from "../traits.ts";
import { appliedEntries } from "./applied.ts";
import { membersOf } from "./compare.ts";
import type { Body } from "./request.ts";

/** Keys of shared lists that other objects add or remove, by the member of the request. */
export type OthersEntriesByMember = Readonly<Record<string, OthersEntries>>;

export interface OthersEntries {
  wanted: readonly string[];
  /** Keys that the other objects are about to remove. */
  leaving: readonly string[];
}

export interface SharedSides {
  wanted: Body;
  seen: Body;
  applied: readonly string[];
  others?: OthersEntriesByMember;
}

const none: OthersEntries = { wanted: [], leaving: [] };

interface SharedList {
  member: string;
  fields: readonly string[];
  trait: SharedTrait;
}

export const sharedLists: (schema: z.ZodObject) => readonly SharedList[] = memoize((schema) =>
  [...membersOf(schema)].flatMap(([member, { fields, traits }]) =>
    traits.shared ? [{ member, fields, trait: traits.shared }] : [],
  ),
);

/**
 * The wanted shared lists: the entries of this object and those of others. An entry that this object added and no
 * longer lists is removed, unless another object wants it.
 */
export function mergeShared(schema: z.ZodObject, { wanted, seen, applied, others = {} }: SharedSides): Body {
  const lists = sharedLists(schema).filter(
    ({ member, fields }) => wanted[member] !== undefined || fields.some((field) => applied.includes(field)),
  );
  return Object.fromEntries(
    lists.map(({ member, fields, trait }) => {
      const own = entriesOf(wanted[member]);
      const wantedByOthers = new Set((others[member] ?? none).wanted);
      const ours = fields.flatMap((field) => appliedEntries(field, applied)).filter((key) => !wantedByOthers.has(key));
      return [member, [...own, ...without(entriesOf(seen[member]), trait, [...keysOf(own, trait), ...ours])]];
    }),
  );
}

/**
 * The request, with the entries that other objects are about to add or remove. The request replaces the whole list, and
 * `seen` may be older than these changes.
 */
export function withOthersEntries(schema: z.ZodObject, body: Body, { wanted, others = {} }: SharedSides): Body {
  const lists = sharedLists(schema).filter(({ member }) => body[member] !== undefined && others[member]);
  const settled = lists.map(({ member, trait }): [string, unknown] => {
    const entries = others[member] ?? none;
    const own = new Set(keysOf(entriesOf(wanted[member]), trait));
    const kept = without(
      entriesOf(body[member]),
      trait,
      entries.leaving.filter((key) => !own.has(key)),
    );
    const added = new Set(entries.wanted).difference(new Set(keysOf(kept, trait)));
    return [member, [...kept, ...[...added].map((key) => ({ [trait.key]: key }))]];
  });
  return { ...body, ...Object.fromEntries(settled) };
}

const entriesOf = (list: unknown): Body[] => (Array.isArray(list) ? list : []);

const keysOf = (entries: readonly Body[], { key }: SharedTrait): string[] => entries.map((entry) => String(entry[key]));

function without(entries: readonly Body[], { key }: SharedTrait, gone: readonly string[]): Body[] {
  const all = new Set(gone);
  return entries.filter((entry) => !all.has(String(entry[key])));
}
