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
  /** Metadata was seen of a remote that a list showed without it. */
  #isProven = false;

  /** Whether the latest list left `metadata` out of all rows although some remotes may have it. */
  get areHidden(): boolean {
    return this.#unlisted.size > 0 && (this.#isProven || this.#answersWithout < ENOUGH_ANSWERS);
  }

  /** Whether an answer has shown what the latest list left out. */
  get areSurelyHidden(): boolean {
    return this.#unlisted.size > 0 && this.#isProven;
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
      this.#isProven = false;
      return rows;
    }
    this.#unlisted = new Set(rows.map(({ id }) => id));
    this.#answered = this.#answered.intersection(this.#unlisted);
    if (rows.some(({ id }) => hasText(known(id)))) this.#isProven = true;
    return rows.map((row) => {
      const before = known(row.id);
      return before && shows(before) ? { ...row, metadata: before["metadata"] } : row;
    });
  }

  /** The answer to a write, which shows all that the remote has. The write may have set its metadata. */
  ofWrite({ id }: Remote): void {
    this.#answered.add(id);
    this.#answeredSinceList.add(id);
  }

  /** The answer to a GET, which shows all that the remote has. `isCurrent`: it began after the latest list. */
  ofRead(remote: Remote, isCurrent: boolean): void {
    const { id } = remote;
    if (this.#unlisted.has(id)) {
      if (hasText(remote)) this.#isProven = true;
      if (shows(remote)) this.#answersWithout = 0;
      else if (!this.#answered.has(id)) this.#answersWithout += 1;
    }
    this.#answered.add(id);
    if (isCurrent) this.#answeredSinceList.add(id);
  }

  /** Whether no list and no answer has ever shown the owner mark of this remote. */
  isUnknown(id: string): boolean {
    return this.areHidden && !this.#answered.has(id);
  }

  /** Whether somebody may have marked the remote since an answer has told whose it is, if one ever has. */
  isStale(id: string): boolean {
    return this.areHidden && !this.#answeredSinceList.has(id);
  }
}
