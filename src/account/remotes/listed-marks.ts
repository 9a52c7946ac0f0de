import type { Remote } from "../../gateway/resource.ts";

/** After this many GET answers without `metadata`, the service is taken to leave it out where it is not set. */
const ENOUGH_ANSWERS = 20;

const shows = (remote: Remote): boolean => remote["metadata"] !== undefined;

const hasText = (remote: Remote | undefined): boolean => remote !== undefined && Boolean(remote["metadata"]);

/**
 * Whether the lists of one resource show `metadata`, which holds the owner mark. A service may leave out members that
 * are not set, and a list may leave out members that a GET shows. If one row of a list has `metadata`, the list shows
 * it, and the other rows have none. If no row has it, the metadata of a row is unknown until an answer about this
 * remote shows it.
 */
export class ListedMarks {
  /** Ids in the latest list, if it showed no `metadata`. */
  #unlisted: ReadonlySet<string> = new Set();
  /** Ids of remotes that an answer has shown since the latest list. */
  #answeredSinceList = new Set<string>();
  /** Ids of unlisted remotes that an answer has shown at any time. */
  #answered = new Set<string>();
  #answersWithout = 0;

  /** Whether the latest list left `metadata` out of all rows although some remotes may have it. */
  get areHidden(): boolean {
    return this.#unlisted.size > 0 && this.#answersWithout < ENOUGH_ANSWERS;
  }

  /**
   * Returns the rows of a complete list. A row without `metadata` gets the metadata of the latest answer about this
   * remote.
   */
  ofList(rows: readonly Remote[], known: (id: string) => Remote | undefined): readonly Remote[] {
    this.#answeredSinceList = new Set();
    if (rows.some(shows)) {
      this.#unlisted = new Set();
      this.#answered = new Set();
      this.#answersWithout = 0;
      return rows;
    }
    this.#unlisted = new Set(rows.map(({ id }) => id));
    this.#answered = this.#answered.intersection(this.#unlisted);
    // An earlier answer had metadata that this list leaves out.
    if (rows.some(({ id }) => hasText(known(id)))) this.#answersWithout = 0;
    return rows.map((row) => {
      const before = known(row.id);
      return before && shows(before) ? { ...row, metadata: before["metadata"] } : row;
    });
  }

  /** Records an answer about one remote. Unlike a list, it shows all members. */
  ofAnswer(remote: Remote): void {
    const { id } = remote;
    if (this.#unlisted.has(id)) {
      if (shows(remote)) this.#answersWithout = 0;
      else if (!this.#answered.has(id)) this.#answersWithout += 1;
    }
    this.#answered.add(id);
    this.#answeredSinceList.add(id);
  }

  /** Whether no list and no answer has ever shown the owner mark of this remote. */
  isUnknown(id: string): boolean {
    return this.areHidden && this.#unlisted.has(id) && !this.#answered.has(id);
  }

  /**
   * Whether the latest answer about this remote is older than the list, so that its owner mark may have changed since.
   */
  isStale(id: string): boolean {
    return this.areHidden && this.#unlisted.has(id) && !this.#answeredSinceList.has(id);
  }
}
