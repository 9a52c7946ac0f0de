/** How far one reflector has told the store about its namespace, or about all of them. */
export class Scope {
  #revision = 0n;
  #lists = 0;
  #listed = false;
  /** uid of objects that our own write removed, to the number of lists asked for by then */
  readonly #forgotten = new Map<string, number>();

  /** Everything up to this resourceVersion is known. */
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
   * Lists are consistent, so one that is older than what is known means that the server's history was put
   * back, say from a backup. True then; nothing that was known counts any more.
   */
  endList(revision: bigint): boolean {
    const rewound = revision < this.#revision;
    this.#revision = revision;
    this.#listed = true;
    for (const [uid, lists] of this.#forgotten) if (rewound || lists < this.#lists) this.#forgotten.delete(uid);
    return rewound;
  }

  forget(uid: string): void {
    this.#forgotten.set(uid, this.#lists);
  }

  hasForgotten(uid: string): boolean {
    return this.#forgotten.has(uid);
  }

  sawDeleted(uid: string): void {
    this.#forgotten.delete(uid);
  }
}
