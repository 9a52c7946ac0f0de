import { type BaseURL, resolvePage } from "./http/base-url.ts";
import { UnreadableAnswer } from "./read.ts";

/** More than any account has; ends a list whose pages never do. */
const MAX_PAGES = 10_000;

/**
 * Follows the pages of one list. Takes `next_page_uri` as answered and gives the path to request, or undefined at the
 * end. Throws UnreadableAnswer rather than leave the origin, go round in circles, or on for ever.
 */
export function pageFollower(base: BaseURL, collection: string): (next: string | undefined) => string | undefined {
  const seen = new Set([collection]);
  return (next) => {
    if (next === undefined) return undefined;
    const path = resolvePage(base, collection, next);
    if (path === undefined) throw new UnreadableAnswer("next_page_uri leads to another origin and is not followed");
    if (seen.has(path)) throw new UnreadableAnswer("next_page_uri leads back to a page of the same list");
    if (seen.size >= MAX_PAGES) throw new UnreadableAnswer(`the list has more than ${MAX_PAGES} pages`);
    seen.add(path);
    return path;
  };
}
