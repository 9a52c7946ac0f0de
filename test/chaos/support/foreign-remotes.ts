import { expect } from "vitest";
import type { Members } from "../../../tools/simulator/shape/members.ts";
import type { Simulator } from "../../../tools/simulator/simulator.ts";
import type { Given } from "./subjects.ts";

/** Remotes of other people in the account. The operator must not change them. */
export class ForeignRemotes {
  readonly #simulator: Simulator;
  readonly #rows = new Map<string, Members>();
  readonly #shared = new Map<string, { theirs: (row: Members) => unknown; before: unknown }>();

  constructor(simulator: Simulator) {
    this.#simulator = simulator;
  }

  add(collection: string, members: Members): Members {
    const row = this.#simulator.control.insert(collection, members);
    this.#rows.set(String(row["id"]), row);
    return row;
  }

  /** Their owner removes a remote. */
  remove(id: string): void {
    this.#simulator.control.remove(id);
    this.#rows.delete(id);
  }

  /** Adds a row that belongs to others in part: `theirs` picks the part that must not change. */
  share({ collection, members, theirs }: Given): void {
    const row = this.#simulator.control.insert(collection, members);
    this.#shared.set(String(row["id"]), { theirs, before: theirs(row) });
  }

  /** The rows of a collection, without those of others. */
  except(collection: string): Members[] {
    return this.#simulator.control.objects(collection).filter(({ id }) => !this.#rows.has(String(id)));
  }

  expectUntouched(): void {
    const now = [...this.#rows.keys()].map((id) => this.#simulator.control.get(id));
    expect(now).toEqual([...this.#rows.values()]);
    for (const [id, { theirs, before }] of this.#shared) {
      expect(theirs(this.#simulator.control.get(id) ?? {})).toEqual(before);
    }
  }

  clear(): void {
    for (const id of [...this.#rows.keys(), ...this.#shared.keys()]) this.#simulator.control.remove(id);
    this.#rows.clear();
    this.#shared.clear();
  }
}
