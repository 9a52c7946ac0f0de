import { isDeepStrictEqual } from "node:util";
import type { Remote } from "../gateway/resource.ts";
import { ownerMarkOf } from "../objects/ownership.ts";

interface KnownRemote {
  remote: Remote;
  /** When the remote was true at the earliest; monotonic milliseconds. */
  at: number;
}

/** What a list changed: remotes that differ from what was known, and known remotes that it did not have. */
export interface ListDelta {
  changed: string[];
  absent: string[];
}

interface Removal {
  at: number;
  /** By us, and not found gone. */
  deleted: boolean;
}

/** A remote that was known, and what is known now in its place. */
export type RemoteChangeListener = (before: Remote, after: Remote | undefined) => void;

/**
 * What one account has of one resource, as far as is known: the latest list with our own answers folded in.
 * A list speaks for the moment at which it began, so it never undoes what was written or read after that.
 * One that began before the latest says nothing at all. All times are monotonic milliseconds. No I/O.
 */
export class Inventory {
  readonly #remotes = new Map<string, KnownRemote>();
  readonly #removed = new Map<string, Removal>();
  readonly #idsByOwner = new Map<string, Set<string>>();
  readonly #listeners: RemoteChangeListener[] = [];
  #listedAt: number | undefined;
  #listInvalidatedAt = 0;

  /** When the latest complete list began. */
  get listedAt(): number | undefined {
    return this.#listedAt;
  }

  get(id: string): Remote | undefined {
    return this.#remotes.get(id)?.remote;
  }

  /** When the remote was true at the earliest. */
  seenAt(id: string): number | undefined {
    return this.#remotes.get(id)?.at;
  }

  /** A list that began before this is out of date. */
  get listInvalidatedAt(): number {
    return this.#listInvalidatedAt;
  }

  /** Nowhere in what is known, and not because it was deleted by us since the latest list. */
  isMissing(id: string): boolean {
    return this.#listedAt !== undefined && !this.#remotes.has(id) && !this.#removed.get(id)?.deleted;
  }

  get size(): number {
    return this.#remotes.size;
  }

  /** Made anew each time. */
  all(): Remote[] {
    return [...this.#remotes.values()].map(({ remote }) => remote);
  }

  /** Rows whose metadata names this owner. */
  ownedBy(owner: string): Remote[] {
    return [...(this.#idsByOwner.get(owner) ?? [])].flatMap((id) => this.#remotes.get(id)?.remote ?? []);
  }

  onChange(follower: RemoteChangeListener): void {
    this.#listeners.push(follower);
  }

  /** What was read of one resource by a call that began at `startedAt`; like a list, it undoes nothing that came later. */
  recordRead(remote: Remote, startedAt: number): void {
    const isOlderThanList = this.#listedAt !== undefined && startedAt < this.#listedAt;
    if (isOlderThanList && !this.#remotes.has(remote.id)) return;
    this.#merge(remote, startedAt);
  }

  /** The answer to a write, which ended at `at`. */
  recordWrite(remote: Remote, at: number): void {
    const known = this.#remotes.get(remote.id);
    this.#store({ remote, at });
    this.#removed.delete(remote.id);
    this.#notify(known?.remote, remote);
  }

  /** Deleted by us at `at`. */
  recordDeleted(id: string, at: number): void {
    this.#remove(id, { at, deleted: true });
  }

  /** Something that no answer told of may have changed before `at`. */
  invalidateList(at: number): void {
    this.#listInvalidatedAt = at;
  }

  /** Found gone at `at`. Who has deleted it may have deleted more, and the account may be another one than before. */
  recordGone(id: string, at: number): void {
    if (this.#remotes.has(id)) this.invalidateList(at);
    this.#remove(id, { at, deleted: false });
  }

  /** `unreadable`: ids of remotes that were there and could not be understood; what was known of them stays. */
  recordList(remotes: readonly Remote[], startedAt: number, unreadable: ReadonlySet<string> = new Set()): ListDelta {
    if (this.#listedAt !== undefined && startedAt < this.#listedAt) return { changed: [], absent: [] };
    const listed = new Set(unreadable);
    const changed: string[] = [];
    const first = this.#listedAt === undefined;
    for (const remote of remotes) {
      listed.add(remote.id);
      // whoever waited for the first list looks at its remotes anyway, but not whoever had an answer before
      const awaited = first && !this.#remotes.has(remote.id);
      if (this.#merge(remote, startedAt) && !awaited) changed.push(remote.id);
    }
    const absent = this.#removeUnlisted(listed, startedAt);
    for (const [id, { at }] of this.#removed) if (at < startedAt) this.#removed.delete(id);
    this.#listedAt = startedAt;
    return { changed, absent };
  }

  #store(seen: KnownRemote): void {
    const { id } = seen.remote;
    const before = this.#remotes.get(id)?.remote;
    this.#remotes.set(id, seen);
    if (before === seen.remote) return;
    const [ownerBefore, owner] = [before && ownerMarkOf(before), ownerMarkOf(seen.remote)];
    if (ownerBefore === owner) return;
    if (ownerBefore !== undefined) this.#idsByOwner.get(ownerBefore)?.delete(id);
    if (owner !== undefined) this.#idsByOwner.set(owner, (this.#idsByOwner.get(owner) ?? new Set()).add(id));
  }

  #unstore(id: string): KnownRemote | undefined {
    const known = this.#remotes.get(id);
    this.#remotes.delete(id);
    const owner = known && ownerMarkOf(known.remote);
    if (owner === undefined) return known;
    const ids = this.#idsByOwner.get(owner);
    ids?.delete(id);
    if (ids?.size === 0) this.#idsByOwner.delete(owner);
    return known;
  }

  #remove(id: string, removal: Removal): void {
    const known = this.#unstore(id);
    this.#removed.set(id, removal);
    this.#notify(known?.remote, undefined);
  }

  #merge(remote: Remote, startedAt: number): boolean {
    const known = this.#remotes.get(remote.id);
    const removedAt = this.#removed.get(remote.id)?.at;
    if ((known && known.at > startedAt) || (removedAt !== undefined && removedAt > startedAt)) return false;
    const same = known !== undefined && isDeepStrictEqual(known.remote, remote);
    this.#removed.delete(remote.id);
    // keep the old object if the new one is equal, so that a list without changes makes no garbage
    this.#store({ remote: same ? known.remote : remote, at: startedAt });
    if (!same) this.#notify(known?.remote, remote);
    return !same;
  }

  #removeUnlisted(listed: ReadonlySet<string>, startedAt: number): string[] {
    const absent: string[] = [];
    for (const [id, { remote, at }] of this.#remotes) {
      if (listed.has(id) || at > startedAt) continue;
      this.#unstore(id);
      absent.push(id);
      this.#notify(remote, undefined);
    }
    return absent;
  }

  #notify(before: Remote | undefined, after: Remote | undefined): void {
    if (before) for (const follower of this.#listeners) follower(before, after);
  }
}
