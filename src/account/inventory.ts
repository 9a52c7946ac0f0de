import { isDeepStrictEqual } from "node:util";
import type { Remote } from "../gateway/resource.ts";
import { ownerMarkOf } from "../objects/ownership.ts";

interface Seen {
  row: Remote;
  /** When the row was true at the earliest; monotonic milliseconds. */
  at: number;
}

/** What a list changed: rows that differ from what was known, and known rows that it did not have. */
export interface ListDelta {
  changed: string[];
  absent: string[];
}

interface Removal {
  at: number;
  /** By us, and not found gone. */
  deleted: boolean;
}

/** A row that was known, and what is known now in its place. */
export type Follower = (before: Remote, after: Remote | undefined) => void;

/**
 * What one account has of one resource, as far as is known: the latest list with our own answers folded in.
 * A list speaks for the moment at which it began, so it never undoes what was written or read after that.
 * One that began before the latest says nothing at all. All times are monotonic milliseconds. No I/O.
 */
export class Inventory {
  readonly #rows = new Map<string, Seen>();
  readonly #removed = new Map<string, Removal>();
  readonly #owned = new Map<string, Set<string>>();
  readonly #followers: Follower[] = [];
  #listedAt: number | undefined;
  #doubtedAt = 0;

  /** When the latest complete list began. */
  get listedAt(): number | undefined {
    return this.#listedAt;
  }

  get(id: string): Remote | undefined {
    return this.#rows.get(id)?.row;
  }

  /** When the row was true at the earliest. */
  seenAt(id: string): number | undefined {
    return this.#rows.get(id)?.at;
  }

  /** A list that began before this is out of date. */
  get doubtedAt(): number {
    return this.#doubtedAt;
  }

  /** Nowhere in what is known, and not because it was deleted by us since the latest list. */
  isMissing(id: string): boolean {
    return this.#listedAt !== undefined && !this.#rows.has(id) && !this.#removed.get(id)?.deleted;
  }

  get size(): number {
    return this.#rows.size;
  }

  /** Made anew each time. */
  rows(): Remote[] {
    return [...this.#rows.values()].map(({ row }) => row);
  }

  /** Rows whose metadata names this owner. */
  ownedBy(owner: string): Remote[] {
    return [...(this.#owned.get(owner) ?? [])].flatMap((id) => this.#rows.get(id)?.row ?? []);
  }

  follow(follower: Follower): void {
    this.#followers.push(follower);
  }

  /** What was read of one resource by a call that began at `startedAt`; like a list, it undoes nothing that came later. */
  read(row: Remote, startedAt: number): void {
    const isOlderThanList = this.#listedAt !== undefined && startedAt < this.#listedAt;
    if (isOlderThanList && !this.#rows.has(row.id)) return;
    this.#learn(row, startedAt);
  }

  /** The answer to a write, which ended at `at`. */
  put(row: Remote, at: number): void {
    const known = this.#rows.get(row.id);
    this.#set({ row, at });
    this.#removed.delete(row.id);
    this.#tell(known?.row, row);
  }

  /** Deleted by us at `at`. */
  drop(id: string, at: number): void {
    this.#remove(id, { at, deleted: true });
  }

  /** Something that no answer told of may have changed before `at`. */
  doubt(at: number): void {
    this.#doubtedAt = at;
  }

  /** Found gone at `at`. Who has deleted it may have deleted more, and the account may be another one than before. */
  lose(id: string, at: number): void {
    if (this.#rows.has(id)) this.doubt(at);
    this.#remove(id, { at, deleted: false });
  }

  /** `unreadable`: ids of rows that were there and could not be understood; what was known of them stays. */
  replace(rows: readonly Remote[], startedAt: number, unreadable: ReadonlySet<string> = new Set()): ListDelta {
    if (this.#listedAt !== undefined && startedAt < this.#listedAt) return { changed: [], absent: [] };
    const listed = new Set(unreadable);
    const changed: string[] = [];
    const first = this.#listedAt === undefined;
    for (const row of rows) {
      listed.add(row.id);
      // whoever waited for the first list looks at its rows anyway, but not whoever had an answer before
      const awaited = first && !this.#rows.has(row.id);
      if (this.#learn(row, startedAt) && !awaited) changed.push(row.id);
    }
    const absent = this.#forget(listed, startedAt);
    for (const [id, { at }] of this.#removed) if (at < startedAt) this.#removed.delete(id);
    this.#listedAt = startedAt;
    return { changed, absent };
  }

  #set(seen: Seen): void {
    const { id } = seen.row;
    const before = this.#rows.get(id)?.row;
    this.#rows.set(id, seen);
    if (before === seen.row) return;
    const [was, is] = [before && ownerMarkOf(before), ownerMarkOf(seen.row)];
    if (was === is) return;
    if (was !== undefined) this.#owned.get(was)?.delete(id);
    if (is !== undefined) this.#owned.set(is, (this.#owned.get(is) ?? new Set()).add(id));
  }

  #unset(id: string): Seen | undefined {
    const known = this.#rows.get(id);
    this.#rows.delete(id);
    const owner = known && ownerMarkOf(known.row);
    if (owner === undefined) return known;
    const ids = this.#owned.get(owner);
    ids?.delete(id);
    if (ids?.size === 0) this.#owned.delete(owner);
    return known;
  }

  #remove(id: string, removal: Removal): void {
    const known = this.#unset(id);
    this.#removed.set(id, removal);
    this.#tell(known?.row, undefined);
  }

  #learn(row: Remote, startedAt: number): boolean {
    const known = this.#rows.get(row.id);
    const removedAt = this.#removed.get(row.id)?.at;
    if ((known && known.at > startedAt) || (removedAt !== undefined && removedAt > startedAt)) return false;
    const same = known !== undefined && isDeepStrictEqual(known.row, row);
    this.#removed.delete(row.id);
    // an equal row keeps the old object, so that a quiet sweep leaves no garbage behind
    this.#set({ row: same ? known.row : row, at: startedAt });
    if (!same) this.#tell(known?.row, row);
    return !same;
  }

  #forget(listed: ReadonlySet<string>, startedAt: number): string[] {
    const absent: string[] = [];
    for (const [id, { row, at }] of this.#rows) {
      if (listed.has(id) || at > startedAt) continue;
      this.#unset(id);
      absent.push(id);
      this.#tell(row, undefined);
    }
    return absent;
  }

  #tell(before: Remote | undefined, after: Remote | undefined): void {
    if (before) for (const follower of this.#followers) follower(before, after);
  }
}
