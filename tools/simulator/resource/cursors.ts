import { invalid } from "../http/refusal.ts";
import type { Row } from "./collection.ts";

/** Where a page begins: it has rows with sequences below this one, or those after so many newer rows. */
interface Cursor {
  readonly sequence: number;
  readonly skipped: number;
}

/** The cursors of pages. Only one that was given out is accepted. */
export class Cursors {
  readonly #issued = new Map<string, Cursor>();

  /** `skipped`: how many rows were on the pages before. */
  issue(row: Row, skipped: number, limit: number): string {
    const query = `before_id=${row.id}&limit=${limit}`;
    this.#issued.set(query, { sequence: row.sequence, skipped });
    return query;
  }

  read(query: string): Cursor {
    const cursor = this.#issued.get(query);
    if (cursor === undefined) throw invalid(`unknown query parameters: ${query}`);
    return cursor;
  }

  clear(): void {
    this.#issued.clear();
  }
}
