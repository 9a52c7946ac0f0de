import type { Members } from "../shape/members.ts";
import type { World } from "../world.ts";
import type { Collection } from "./collection.ts";
import { positionOf } from "./store.ts";
import type { View } from "./view.ts";

/** One page of the list, newest first. */
export function page(collection: Collection, query: string, view: View, world: World): Members {
  const { pageSize, listLagMs, clock } = world.settings;
  const rows = world.store.rowsAsOf(collection, clock() - listLagMs);
  const end = query === "" ? rows.length : positionOf(rows, world.cursors.read(query));
  const start = Math.max(0, end - pageSize);
  const oldest = rows[start];
  const base = collection.nextPage === "path" ? "" : view.origin;
  return {
    [collection.listKey]: rows.slice(start, end).reverse().map(view.show),
    uri: `${base}/${collection.name}`,
    next_page_uri: start > 0 && oldest ? `${base}/${collection.name}?${world.cursors.issue(oldest, pageSize)}` : null,
    x_future: null,
  };
}
