interface Entry {
  readonly at: number;
  readonly run: () => void;
}

/** Work for later, by the simulator's clock. There are no timers: `advance` runs what is due. */
export class Agenda {
  readonly #entries: Entry[] = [];

  /** Entries for the same time run in the order in which they were added. */
  at(time: number, run: () => void): void {
    let index = this.#entries.length;
    while (index > 0 && (this.#entries[index - 1]?.at ?? 0) > time) index--;
    this.#entries.splice(index, 0, { at: time, run });
  }

  advance(now: number): void {
    for (let next = this.#entries[0]; next && next.at <= now; next = this.#entries[0]) {
      this.#entries.shift();
      next.run();
    }
  }

  clear(): void {
    this.#entries.length = 0;
  }
}
