import type { Members } from "../shape/members.ts";
import type { World } from "../world.ts";
import type { Collection } from "./collection.ts";
import { positionOf } from "./store.ts";
import { type View, without } from "./view.ts";

/** One page of the list, newest first. */
export function page(collection: Collection, query: string, view: View, world: World): Members {
  const { pageSize, listLagMs, paging, unlisted, clock } = world.settings;
  const rows = world.store.rowsAsOf(collection, clock() - listLagMs);
  const { sequence, skipped } = query === "" ? { sequence: undefined, skipped: 0 } : world.cursors.read(query);
  const byNumber = paging === "number" || sequence === undefined;
  const end = byNumber ? Math.max(0, rows.length - skipped) : positionOf(rows, sequence);
  const start = Math.max(0, end - pageSize);
  const oldest = rows[start];
  const base = collection.nextPage === "path" ? "" : view.origin;
  return {
    [collection.listKey]: rows
      .slice(start, end)
      .reverse()
      .map(view.show)
      .map((row) => without(row, unlisted)),
    uri: `${base}/${collection.name}`,
    next_page_uri:
      start > 0 && oldest
        ? `${base}/${collection.name}?${world.cursors.issue(oldest, skipped + end - start, pageSize)}`
        : null,
    x_future: null,
  };
}
