import { invalid } from "../http/refusal.ts";
import type { Row } from "./collection.ts";

/** The cursors of pages. Only one that was given out is accepted. */
export class Cursors {
  readonly #issued = new Map<string, number>();

  issue(row: Row, limit: number): string {
    const query = `before_id=${row.id}&limit=${limit}`;
    this.#issued.set(query, row.sequence);
    return query;
  }

  /** The page has rows with sequences below this one. */
  read(query: string): number {
    const sequence = this.#issued.get(query);
    if (sequence === undefined) throw invalid(`unknown query parameters: ${query}`);
    return sequence;
  }

  clear(): void {
    this.#issued.clear();
  }
}
