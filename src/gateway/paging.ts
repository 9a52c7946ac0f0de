import { type BaseURL, resolvePage } from "./http/base-url.ts";
import { UnreadableAnswer } from "./read.ts";

/** More pages than any account has. It ends a list that would never end. */
const MAX_PAGES = 10_000;

/**
 * Follows the pages of one list. The function takes `next_page_uri` of an answer and returns the path to request next,
 * or undefined at the end. It throws UnreadableAnswer when an address is invalid, and when the list repeats a page or never ends.
 */
export function pageFollower(base: BaseURL, collection: string): (next: string | undefined) => string | undefined {
  const seen = new Set([collection]);
  return (next) => {
    if (next === undefined) return undefined;
    const path = resolvePage(base, collection, next);
    if (path === undefined) throw new UnreadableAnswer("next_page_uri is not an address");
    if (seen.has(path)) throw new UnreadableAnswer("next_page_uri leads back to a page of the same list");
    if (seen.size >= MAX_PAGES) throw new UnreadableAnswer(`the list has more than ${MAX_PAGES} pages`);
    seen.add(path);
    return path;
  };
}
