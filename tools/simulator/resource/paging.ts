import { invalid } from "../http/refusal.ts";
import type { World } from "../world.ts";
import type { Collection, Members, Row } from "./collection.ts";
import { positionOf } from "./store.ts";
import type { View } from "./view.ts";

/** Cursors that were given out: nobody can make one up. */
export class Cursors {
  readonly #issued = new Map<string, number>();

  issue(row: Row, limit: number): string {
    const query = `before_id=${row.id}&limit=${limit}`;
    this.#issued.set(query, row.sequence);
    return query;
  }

  /** The sequence below which the page begins. */
  read(query: string): number {
    const sequence = this.#issued.get(query);
    if (sequence === undefined) throw invalid(`unknown query parameters: ${query}`);
    return sequence;
  }

  clear(): void {
    this.#issued.clear();
  }
}

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
