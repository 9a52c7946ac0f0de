import { isDeepStrictEqual } from "node:util";
import type { Remote } from "../../gateway/resource.ts";
import { objectOf, ownerMarkOf } from "../../objects/ownership.ts";

interface KnownRemote {
  remote: Remote;
  /** When the request began whose answer showed the remote in this state; for an own write, when it ended. */
  at: number;
}

/** `changed`: ids of remotes that are new or changed in a list. `absent`: ids of known remotes that the list lacks. */
export interface ListDelta {
  changed: string[];
  absent: string[];
}

export interface ListProperties {
  /** Listed remotes that could not be parsed: id to metadata. What is known of them stays as it is. */
  unreadable: ReadonlyMap<string, string | undefined>;
  pages: number;
}

interface Removal {
  at: number;
  /** True when this process deleted it, false when a read found it gone. */
  deleted: boolean;
}

/** A report expires after this time. Every object that has the remote has read it by then. */
const REPORTED_MS = 10 * 60_000;

/** Called when a known remote changed. `after` is undefined when it is gone. */
export type RemoteChangeListener = (before: Remote, after: Remote | undefined) => void;

/**
 * The known remotes of one resource of one account: the latest list, with later answers merged in. A list shows the
 * state at its beginning, so it changes nothing that was written or read later. A list that began before the latest
 * list is ignored. All times are monotonic milliseconds. No I/O.
 */
export class Inventory {
  readonly #remotes = new Map<string, KnownRemote>();
  readonly #removed = new Map<string, Removal>();
  /** Remotes that other credentials have reported and that no answer has shown yet: id to the time of the report. */
  readonly #reported = new Map<string, number>();
  readonly #idsByOwner = new Map<string, Set<string>>();
  /**
   * Remotes that were known before and that the latest list lacks although it had several pages. They may still exist.
   */
  #hidden = new Map<string, Remote>();
  /** Rows of the latest list that could not be parsed: id to metadata. These remotes exist. */
  #unreadable = new Map<string, string | undefined>();
  readonly #listeners: RemoteChangeListener[] = [];
  #listedAt: number | undefined;
  #listedBeforeAt: number | undefined;
  #hadOnePage = true;
  #lists = 0;
  #listInvalidatedAt = 0;

  /** When the latest complete list began. */
  get listedAt(): number | undefined {
    return this.#listedAt;
  }

  /** How many complete lists were recorded. */
  get lists(): number {
    return this.#lists;
  }

  /**
   * A remote that existed at this time would be known by now, or be hidden. While a list with several pages is read, a
   * deleted row shifts the others, and the list may skip one. So it takes two such lists. Undefined: there were none.
   */
  get absenceProvedAt(): number | undefined {
    return this.#hadOnePage ? this.#listedAt : this.#listedBeforeAt;
  }

  /** Whether a remote that existed at `since` would be known by now, so that an unknown one is certain not to exist. */
  provesAbsence(since: number): boolean {
    const at = this.absenceProvedAt;
    return at !== undefined && at >= since;
  }

  /** Whether there was only one list, with several pages. It may have skipped a remote. */
  get hasOneList(): boolean {
    return this.#lists === 1 && !this.#hadOnePage;
  }

  /** Remotes that the previous list showed and the latest one did not. They may still exist. */
  get hidden(): readonly Remote[] {
    return [...this.#hidden.values()];
  }

  get(id: string): Remote | undefined {
    return this.#remotes.get(id)?.remote;
  }

  /** When the request began that last showed the remote; for an own write, when it ended. */
  seenAt(id: string): number | undefined {
    return this.#remotes.get(id)?.at;
  }

  /** A list that began before this time is out of date. */
  get listInvalidatedAt(): number {
    return this.#listInvalidatedAt;
  }

  /**
   * Whether the latest list lacks the remote, and neither a deletion by this process nor a report explains that. A row
   * that cannot be parsed shows that its remote exists.
   */
  isMissing(id: string): boolean {
    if (this.#listedAt === undefined || this.#remotes.has(id) || this.#unreadable.has(id)) return false;
    return !this.#removed.get(id)?.deleted && !this.#reported.has(id);
  }

  get size(): number {
    return this.#remotes.size;
  }

  /** A new array each time. */
  all(): Remote[] {
    return [...this.#remotes.values()].map(({ remote }) => remote);
  }

  /** Known and hidden remotes whose owner mark names the object `<namespace>/<name>`, in any cluster. */
  markedFor(object: string): Remote[] {
    const known = [...(this.#idsByOwner.get(object) ?? [])].flatMap((id) => this.#remotes.get(id)?.remote ?? []);
    return [...known, ...this.hidden.filter((remote) => markedObjectOf(remote) === object)];
  }

  /** Like `markedFor`, for unknown remotes whose rows could not be parsed. They have only `id` and `metadata`. */
  unreadableMarkedFor(object: string): Remote[] {
    const rows = [...this.#unreadable].map(([id, metadata]): Remote => ({ id, metadata }));
    return rows.filter((row) => !this.#remotes.has(row.id) && markedObjectOf(row) === object);
  }

  onChange(listener: RemoteChangeListener): void {
    this.#listeners.push(listener);
  }

  /** The answer to a read that began at `startedAt`. Like a list, it changes nothing that was recorded later. */
  recordRead(remote: Remote, startedAt: number): void {
    const isOlderThanList = this.#listedAt !== undefined && startedAt < this.#listedAt;
    if (isOlderThanList && !this.#remotes.has(remote.id)) return;
    this.#merge(remote, startedAt);
  }

  /** Records the answer to a write, which ended at `at`. */
  recordWrite(remote: Remote, at: number): void {
    const known = this.#remotes.get(remote.id);
    this.#store({ remote, at });
    this.#notify(known?.remote, remote);
  }

  /** Records that this process deleted the remote. `at`: when the answer came. */
  recordDeleted(id: string, at: number): void {
    this.#remove(id, { at, deleted: true });
  }

  /** Records that the remote may exist since `at`. Only a read, or a list that begins later, shows whether it does. */
  recordReported(id: string, at: number): void {
    for (const [other, reportedAt] of this.#reported) if (at - reportedAt > REPORTED_MS) this.#reported.delete(other);
    this.#reported.set(id, at);
  }

  /** Call it when remotes may have changed before `at` and no answer showed the change. */
  invalidateList(at: number): void {
    this.#listInvalidatedAt = Math.max(at, this.#listInvalidatedAt);
  }

  /**
   * Records that a read did not find the remote. Other remotes may have been deleted with it, so the list is out of
   * date.
   */
  recordGone(id: string, at: number): void {
    if (this.#remotes.has(id)) this.invalidateList(at);
    this.#remove(id, { at, deleted: false });
  }

  recordList(
    remotes: readonly Remote[],
    startedAt: number,
    { unreadable = new Map(), pages = 1 }: Partial<ListProperties> = {},
  ): ListDelta {
    if (this.#listedAt !== undefined && startedAt < this.#listedAt) return { changed: [], absent: [] };
    this.#hadOnePage = pages === 1;
    const listed = new Set(unreadable.keys());
    const changed: string[] = [];
    const first = this.#listedAt === undefined;
    for (const remote of remotes) {
      listed.add(remote.id);
      // Objects wait for the first list and need no list delta. An object that had an answer before that list may have
      // missed a change.
      const isNew = first && !this.#remotes.has(remote.id);
      if (this.#merge(remote, startedAt) && !isNew) changed.push(remote.id);
    }
    const absent = this.#removeUnlisted(listed, startedAt);
    this.#unreadable = new Map([...unreadable].filter(([id]) => (this.#removed.get(id)?.at ?? startedAt) <= startedAt));
    this.#forgetBefore(startedAt);
    this.#hidden = new Map(this.#hadOnePage ? [] : absent.map((remote) => [remote.id, remote]));
    this.#listedBeforeAt = this.#listedAt;
    this.#listedAt = startedAt;
    this.#lists += 1;
    return { changed, absent: absent.map(({ id }) => id) };
  }

  /** Forgets deletions and reports from before a list began. */
  #forgetBefore(startedAt: number): void {
    for (const [id, { at }] of this.#removed) if (at < startedAt) this.#removed.delete(id);
    for (const [id, at] of this.#reported) if (at < startedAt) this.#reported.delete(id);
  }

  #store(known: KnownRemote): void {
    const { id } = known.remote;
    this.#removed.delete(id);
    this.#reveal(id);
    const before = this.#remotes.get(id)?.remote;
    this.#remotes.set(id, known);
    if (before === known.remote) return;
    const [ownerBefore, owner] = [before && markedObjectOf(before), markedObjectOf(known.remote)];
    if (ownerBefore === owner) return;
    if (ownerBefore !== undefined) this.#idsByOwner.get(ownerBefore)?.delete(id);
    if (owner !== undefined) this.#idsByOwner.set(owner, (this.#idsByOwner.get(owner) ?? new Set()).add(id));
  }

  #unstore(id: string): KnownRemote | undefined {
    const known = this.#remotes.get(id);
    this.#remotes.delete(id);
    const owner = known && markedObjectOf(known.remote);
    if (owner === undefined) return known;
    const ids = this.#idsByOwner.get(owner);
    ids?.delete(id);
    if (ids?.size === 0) this.#idsByOwner.delete(owner);
    return known;
  }

  /** Call it when an answer has shown whether this remote exists. */
  #reveal(id: string): void {
    this.#reported.delete(id);
    this.#hidden.delete(id);
    this.#unreadable.delete(id);
  }

  #remove(id: string, removal: Removal): void {
    this.#reveal(id);
    const known = this.#unstore(id);
    this.#removed.set(id, removal);
    this.#notify(known?.remote, undefined);
  }

  #merge(remote: Remote, startedAt: number): boolean {
    const known = this.#remotes.get(remote.id);
    const removedAt = this.#removed.get(remote.id)?.at;
    if ((known && known.at > startedAt) || (removedAt !== undefined && removedAt > startedAt)) return false;
    const same = known !== undefined && isDeepStrictEqual(known.remote, remote);
    // Keep the old object if the new one is equal, so that a list without changes makes no garbage.
    this.#store({ remote: same ? known.remote : remote, at: startedAt });
    if (!same) this.#notify(known?.remote, remote);
    return !same;
  }

  #removeUnlisted(listed: ReadonlySet<string>, startedAt: number): Remote[] {
    const absent: Remote[] = [];
    for (const [id, { remote, at }] of this.#remotes) {
      if (listed.has(id) || at > startedAt) continue;
      this.#unstore(id);
      absent.push(remote);
      this.#notify(remote, undefined);
    }
    return absent;
  }

  #notify(before: Remote | undefined, after: Remote | undefined): void {
    if (before) for (const listener of this.#listeners) listener(before, after);
  }
}

const markedObjectOf = (remote: Remote): string | undefined => objectOf(ownerMarkOf(remote));
