/** How far one feed has come. */
export class FeedState {
  #revision = 0n;
  #lists = 0;
  #listed = false;
  /** The uid of each object that an own write removed, and the number of lists that had begun by then. */
  readonly #tombstones = new Map<string, number>();

  /** The feed has delivered everything up to this resourceVersion. */
  get revision(): bigint {
    return this.#revision;
  }

  get listed(): boolean {
    return this.#listed;
  }

  advance(revision: bigint): void {
    if (revision > this.#revision) this.#revision = revision;
  }

  beginList(): void {
    this.#lists += 1;
  }

  /**
   * Ends a list. Returns true when the list is older than the objects that the feed has delivered. Lists are consistent
   * reads, so the server has gone back in time, for example to a backup, and the whole store is invalid.
   */
  endList(revision: bigint): boolean {
    const rewound = revision < this.#revision;
    this.#revision = revision;
    this.#listed = true;
    for (const [uid, lists] of this.#tombstones) if (rewound || lists < this.#lists) this.#tombstones.delete(uid);
    return rewound;
  }

  addTombstone(uid: string): void {
    this.#tombstones.set(uid, this.#lists);
  }

  hasTombstone(uid: string): boolean {
    return this.#tombstones.has(uid);
  }

  removeTombstone(uid: string): void {
    this.#tombstones.delete(uid);
  }
}
