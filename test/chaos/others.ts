import { expect } from "vitest";
import type { Members } from "../simulator/resource/collection.ts";
import type { Simulator } from "../simulator/simulator.ts";

/** What other people have in the account. Nobody but them may change it. */
export class Others {
  readonly #simulator: Simulator;
  readonly #rows = new Map<string, Members>();

  constructor(simulator: Simulator) {
    this.#simulator = simulator;
  }

  add(collection: string, members: Members): Members {
    const row = this.#simulator.control.insert(collection, members);
    this.#rows.set(String(row["id"]), row);
    return row;
  }

  /** The rows of a collection that are not theirs. */
  except(collection: string): Members[] {
    return this.#simulator.control.objects(collection).filter(({ id }) => !this.#rows.has(String(id)));
  }

  expectUntouched(): void {
    const now = [...this.#rows.keys()].map((id) => this.#simulator.control.get(id));
    expect(now).toEqual([...this.#rows.values()]);
  }

  clear(): void {
    for (const id of this.#rows.keys()) this.#simulator.control.remove(id);
    this.#rows.clear();
  }
}
