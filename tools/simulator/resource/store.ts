import type { Random } from "../random.ts";
import type { Members } from "../shape/members.ts";
import { stamp } from "../shape/time.ts";
import type { Collection, Row } from "./collection.ts";

interface Change {
  readonly at: number;
  readonly sequence: number;
  readonly collection: string;
  /** The row before the change; undefined for a create. */
  readonly before: Row | undefined;
}

export interface StoreOptions {
  readonly random: Random;
  readonly clock: () => number;
  /** How long changes are remembered, for lists that lag. */
  readonly memoryMs: number;
}

/** The rows of the account, by id, by unique member and in order of creation. */
export class Store {
  readonly #options: StoreOptions;
  readonly #rows = new Map<string, Row>();
  /** Oldest first. */
  readonly #ordered = new Map<string, Row[]>();
  readonly #unique = new Map<string, string>();
  readonly #users = new Map<string, Set<string>>();
  #changes: Change[] = [];
  #sequence = 0;

  constructor(options: StoreOptions) {
    this.#options = options;
  }

  add(collection: Collection, members: Members, given: { id?: string; createdAt?: string } = {}): Row {
    const row: Row = {
      id: given.id ?? `${collection.prefix}_${this.#options.random.text(27)}`,
      sequence: ++this.#sequence,
      createdAt: given.createdAt ?? stamp(this.#options.clock()),
      collection,
      members,
    };
    this.#remember(row, undefined);
    this.#rows.set(row.id, row);
    this.#listed(collection).push(row);
    this.#index(row);
    return row;
  }

  find(id: unknown): Row | undefined {
    return this.#rows.get(id as string);
  }

  replace(id: string, members: Members): Row {
    const before = this.#existing(id);
    const row = { ...before, members };
    this.#remember(row, before);
    this.#unindex(before);
    this.#rows.set(id, row);
    const rows = this.#listed(row.collection);
    rows[positionOf(rows, row.sequence)] = row;
    this.#index(row);
    return row;
  }

  remove(id: string): Row {
    const row = this.#existing(id);
    this.#remember(row, row);
    this.#unindex(row);
    this.#rows.delete(id);
    const rows = this.#listed(row.collection);
    rows.splice(positionOf(rows, row.sequence), 1);
    return row;
  }

  /** Oldest first. */
  rows(collection: Collection): readonly Row[] {
    return this.#listed(collection);
  }

  /** The rows as they were at `time`, oldest first. */
  rowsAsOf(collection: Collection, time: number): readonly Row[] {
    const undone = this.#changes.filter((change) => change.collection === collection.name && change.at > time);
    if (undone.length === 0) return this.#listed(collection);
    const rows = new Map(this.#listed(collection).map((row) => [row.sequence, row]));
    for (const { sequence, before } of undone.reverse()) {
      if (before) rows.set(sequence, before);
      if (!before) rows.delete(sequence);
    }
    return [...rows.values()].sort((a, b) => a.sequence - b.sequence);
  }

  /** The id of the row that has `value` as its unique member. */
  owner(collection: Collection, value: unknown): string | undefined {
    return this.#unique.get(`${collection.name} ${value}`);
  }

  /** The ids of the rows that use `id`, which prevents its deletion. */
  users(id: string): readonly string[] {
    return [...(this.#users.get(id) ?? [])];
  }

  clear(): void {
    for (const map of [this.#rows, this.#ordered, this.#unique, this.#users]) map.clear();
    this.#changes = [];
  }

  #listed({ name }: Collection): Row[] {
    const rows = this.#ordered.get(name) ?? [];
    if (rows.length === 0) this.#ordered.set(name, rows);
    return rows;
  }

  #existing(id: string): Row {
    const row = this.#rows.get(id);
    if (!row) throw new Error(`there is no ${id}`);
    return row;
  }

  #remember({ sequence, collection }: Row, before: Row | undefined): void {
    const { memoryMs, clock } = this.#options;
    if (memoryMs === 0) return;
    const now = clock();
    while (this.#changes[0] && this.#changes[0].at < now - memoryMs) this.#changes.shift();
    this.#changes.push({ at: now, sequence, collection: collection.name, before });
  }

  #index(row: Row): void {
    const { unique, name } = row.collection;
    if (unique) this.#unique.set(`${name} ${row.members[unique]}`, row.id);
    for (const id of row.collection.uses?.(row.members) ?? []) {
      this.#users.set(id, (this.#users.get(id) ?? new Set()).add(row.id));
    }
  }

  #unindex(row: Row): void {
    const { unique, name } = row.collection;
    if (unique) this.#unique.delete(`${name} ${row.members[unique]}`);
    for (const id of row.collection.uses?.(row.members) ?? []) this.#users.get(id)?.delete(row.id);
  }
}

/** The index of the first row with at least this sequence, in rows sorted by sequence. */
export function positionOf(rows: readonly Row[], sequence: number): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((rows[middle]?.sequence ?? 0) < sequence) low = middle + 1;
    if ((rows[middle]?.sequence ?? 0) >= sequence) high = middle;
  }
  return low;
}
