import { invalid } from "../http/refusal.ts";
import type { Check } from "./check.ts";
import { string } from "./scalars.ts";

/** Whether an id is `<prefix>_` and base62 of any length. */
export const isId = (prefix: string, id: string): boolean =>
  id.startsWith(`${prefix}_`) && /^[0-9A-Za-z]+$/.test(id.slice(prefix.length + 1));

/** The id of a row of a collection with one of these prefixes. */
export const reference =
  (...prefixes: readonly string[]): Check =>
  (value, at, store) => {
    const id = string(value, at, store) as string;
    if (!prefixes.some((prefix) => isId(prefix, id))) throw invalid(`${at}: is not an id of the right kind`);
    if (!store.find(id)) throw invalid(`${at}: no such resource`);
    return id;
  };

/** The id of a resource that the API does not manage. It exists unless it begins with `missing` after its prefix. */
export const foreign =
  (...prefixes: readonly string[]): Check =>
  (value, at, store) => {
    const id = string(value, at, store) as string;
    const prefix = prefixes.find((candidate) => isId(candidate, id));
    if (!prefix) throw invalid(`${at}: is not an id of the right kind`);
    if (id.startsWith(`${prefix}_missing`)) throw invalid(`${at}: no such resource`);
    return id;
  };

export const anyBackend = reference("bkdtg", "bkdhr", "bkdwd", "bkdfo");
export const owner = foreign("usr", "bot");
