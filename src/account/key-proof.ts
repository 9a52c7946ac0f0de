import { createHash } from "node:crypto";
import { isForbidden } from "../gateway/errors.ts";
import type { Resource } from "../gateway/resource.ts";
import { keyUnprovable, keyUnproved, namedAccount } from "../objects/errors/account.ts";
import { hasList, type Source } from "../objects/evidence.ts";
import { type Blocked, Outdated } from "../objects/reconcile-error.ts";
import { Backoff } from "../runtime/backoff.ts";
import type { Clock } from "../runtime/clock.ts";

/**
 * For comparing keys. White space around a key is no part of it. Each process has the same digest of a key, since what
 * outlives the process is made from it with the secret of the operator (see operator/accounts/key-records.ts). The digest
 * itself is kept in memory alone.
 */
export const digestOf = (key: string): string => createHash("sha256").update(key.trim()).digest("base64");

/** Between attempts to prove a key. */
const DELAYS = { base: 2, cap: 20, jitter: 0 };

/** How many remotes that no list shows are read at an attempt. Each takes a request, while a list shows many remotes. */
const MOST_READ_AT_ONCE = 3;

/** Ids in the statuses of objects, by what shows the remotes. */
export type RecordedIDs = ReadonlyMap<Source, ReadonlySet<string>>;

/**
 * What the records of earlier processes say about a key. `recorded`: it belongs to this account. `first`: no key was ever
 * recorded, so no process has changed anything in the account, whatever objects cannot be read. `unknown`: other keys
 * were recorded, and not this one.
 */
export type KeyRecord = "recorded" | "first" | "unknown";

export interface KeyProofOptions {
  clock: Clock;
  /** Ids of all remotes in this account that objects have recorded. */
  recorded: () => RecordedIDs;
  /**
   * Objects that cannot be read may have recorded ids in this account: then what a person does so that they can be read,
   * for a message. Undefined: all objects can be read. Default: undefined.
   */
  unread?: () => string | undefined;
  /** Whether a person has confirmed at the start that the key is right, although none of the recorded remotes exists. */
  isConfirmed?: boolean;
  /** What processes before have recorded about the key with this digest. Default: `unknown`. */
  wasRecorded?: (digest: string) => Promise<KeyRecord>;
  /**
   * Resolves when it is recorded for the next process that the key with this digest belongs to this account. `alone`:
   * earlier records belong to another account and are dropped. Default: nothing is recorded.
   */
  record?: (digest: string, which: { alone: boolean }) => Promise<void>;
  /** Digests of keys that are known to lead to the account with the recorded remotes. */
  proved?: Iterable<string>;
  /** Called when all other keys are known to lead to another account, or to one in which nothing is left. */
  onAlone?: () => void;
  /** The name of the GatewayAccount on which a person confirms. Default: empty, for the operator's own credentials. */
  confirmedOn?: () => string;
  /** Reads the list of a resource, and calls `recordSeenIDs` with the ids of its rows, until the key is proved. */
  readList: (resource: Resource) => Promise<void>;
  /** Reads one remote or one of its modules, and calls `recordSeenIDs` if it exists. */
  readOne: (source: Source, id: string) => Promise<void>;
  /** Called with true when a key cannot be proved, and with false when it is proved after all. */
  onProblem?: (exists: boolean) => void;
}

/**
 * Whether the API key of an account leads to the remotes that objects have recorded. A key belongs to one account for
 * ever, so it is proved once: under the key, the service has to show an id that was recorded earlier. Until then the
 * operator changes nothing in the account, and a 404 says nothing. An account without recorded ids needs no proof. A
 * proof is recorded for the next process before the first change.
 */
export class KeyProof {
  readonly #options: KeyProofOptions;
  #proving: Promise<void> | undefined;
  readonly #proved: Set<string>;
  #digest: string | undefined;
  #failure: { count: number; attempts: number; backoff: Backoff } | undefined;
  /** How many remotes that no list shows were read by attempts that ended in an error. */
  #asked = 0;
  #reportedRequest: string | undefined;
  #acceptedAt = Number.NEGATIVE_INFINITY;
  /** The present record for the next process. Another one: it has to be recorded again. */
  #record = {};
  #recorded: object | undefined;
  #recording: Promise<void> | undefined;
  /** Whether the earlier records belong to another account. */
  #isAnother = false;

  constructor(options: KeyProofOptions) {
    this.#options = options;
    this.#proved = new Set(options.proved);
  }

  /** Call it with the digest of the key, as soon as that is known. The account never has another one. */
  use(digest: string): void {
    if (this.#digest !== undefined && this.#digest !== digest) throw new TypeError("another key is another account");
    this.#digest = digest;
    if (this.isProved) this.#solve();
  }

  get isProved(): boolean {
    return this.#digest !== undefined && this.#proved.has(this.#digest);
  }

  /** Call it when the service has carried out a request. */
  accepted(): void {
    this.#acceptedAt = this.#options.clock.now();
  }

  /** Whether the service carried out a request within these last milliseconds. */
  wasAcceptedWithin(milliseconds: number): boolean {
    return this.#options.clock.now() - this.#acceptedAt < milliseconds;
  }

  /** Digests of the keys that are known to be of this account. */
  get proved(): ReadonlySet<string> {
    return this.#proved;
  }

  /** Records that the key belongs to this account, as other credentials have proved. */
  accept(digest: string): void {
    this.#proved.add(digest);
    if (digest === this.#digest) this.#solve();
  }

  /** Whether the account may be changed. */
  get holds(): boolean {
    return this.isProved || this.#isNothingRecorded;
  }

  /** Known only when all objects can be read that may have something in this account. */
  get #isNothingRecorded(): boolean {
    return this.#options.recorded().size === 0 && this.#options.unread?.() === undefined;
  }

  /** Records that the service has shown these ids. */
  recordSeenIDs(ids: readonly string[]): void {
    if (this.isProved) return;
    const recorded = [...this.#options.recorded().values()];
    if (ids.some((id) => recorded.some((some) => some.has(id)))) this.#accept();
  }

  /**
   * Call it before the id of a remote is recorded that was created or found. If no other id is recorded, former keys prove
   * nothing any more: their recorded remotes, if any, no longer exist.
   */
  recordFirstID(): void {
    if (this.isProved || !this.#isNothingRecorded) return;
    this.#forgetFormer();
    this.#accept();
  }

  /**
   * Resolves when lists or modules have proved the key, or when no id is recorded. Callers share the attempt. Throws
   * Blocked (AccountMismatch) when the account shows none of the recorded ids. `read`: a resource whose list the caller
   * has just read.
   */
  async ensure(read?: Resource): Promise<void> {
    if (this.holds) return this.#solve();
    if (this.#failure && !this.isAttemptDue) throw this.problem;
    this.#proving ??= this.#prove(read).finally(() => {
      this.#proving = undefined;
    });
    await this.#proving;
  }

  /**
   * Like `ensure`, before a change: resolves when the proof is also recorded for the next process. The change may
   * remove the last id that proves the key.
   */
  async ensureRecorded(): Promise<void> {
    await this.ensure();
    const digest = this.#digest;
    // The digest is known only after the first request.
    if (digest === undefined || this.#isRecorded) return;
    this.#recording ??= this.#recordKey(digest).finally(() => {
      this.#recording = undefined;
    });
    await this.#recording;
    // Meanwhile, more credentials may have joined, which have records of their own.
    await this.ensureRecorded();
  }

  async #recordKey(digest: string): Promise<void> {
    const record = this.#record;
    await this.#options.record?.(digest, { alone: this.#isAnother || !this.isProved });
    // Meanwhile, more credentials may have joined, or a person may have confirmed the account.
    if (this.#record !== record) return;
    this.#recorded = record;
    this.#isAnother = false;
  }

  /** Call it when more credentials share the account. They have records of their own. */
  recordAgain(): void {
    this.#record = {};
  }

  /**
   * Call it right before the first byte of a change is written, with the API key that is sent. Throws Outdated if
   * `assertHolds` does. Call `recordFirstID` when the service has carried the change out.
   */
  beginChange(key: string): void {
    this.assertHolds(digestOf(key));
  }

  /** Throws Outdated if ids were recorded since `ensure` has resolved that the key has not shown. */
  assertHolds(digest: string): void {
    if (digest !== this.#digest || !this.holds || !this.#isRecorded)
      throw new Outdated("it is not proved yet that the API key is one of this account");
  }

  get #isRecorded(): boolean {
    return this.#options.record === undefined || this.#recorded === this.#record;
  }

  async #prove(read?: Resource): Promise<void> {
    const recorded = [...this.#options.recorded()].sort(([, one], [, other]) => other.size - one.size);
    // The key of the operator is known only after its first reading, and there is nothing to ask the service for.
    if (recorded.length === 0 && this.#digest === undefined) throw new Outdated("the API key is not known yet");
    await (this.#failure ? this.#askForOne(recorded) : this.#askForAll(recorded, read));
    if (!this.holds) this.#fail(new Set(recorded.flatMap(([, ids]) => [...ids])).size);
  }

  /** Comes after the lists: an ordinary start proves the key by the lists that it needs anyway. */
  async #acceptRecordedKey(): Promise<void> {
    const [digest, present] = [this.#digest, this.#record];
    const record = digest === undefined ? undefined : await this.#options.wasRecorded?.(digest);
    if (!record || record === "unknown" || this.#record !== present) return;
    if (record === "recorded") this.#recorded = present;
    this.#accept();
  }

  async #askForAll(recorded: readonly Recorded[], read?: Resource): Promise<void> {
    // An error of one list says nothing about the others.
    const problems: unknown[] = [];
    const unshown = await this.#readLists(recorded, problems, read);
    if (this.isProved) return;
    await this.#acceptRecordedKey();
    for (const one of this.#nextOf([...unlistedOf(recorded), ...singly(unshown)])) {
      if (this.isProved) return;
      await succeeds(this.#options.readOne(...one), problems);
    }
    if (problems.length > 0 && !this.isProved) throw problems[0];
  }

  /** Until the key is proved. Resolves with what is recorded of those whose list has failed. */
  async #readLists(recorded: readonly Recorded[], problems: unknown[], read?: Resource): Promise<Recorded[]> {
    const failed: Recorded[] = [];
    for (const one of recorded) {
      const [resource] = one;
      if (!hasList(resource)) continue;
      if (resource !== read && !(await succeeds(this.#options.readList(resource), problems))) failed.push(one);
      if (this.isProved) break;
    }
    return failed;
  }

  /** Some of these remotes, and others at the next attempt: a list that always fails may have recorded ids that are gone. */
  #nextOf<T>(all: readonly T[]): T[] {
    const from = all.length > 0 ? this.#asked % all.length : 0;
    this.#asked += MOST_READ_AT_ONCE;
    return [...all.slice(from), ...all.slice(0, from)].slice(0, MOST_READ_AT_ONCE);
  }

  /** The key was not proved at first. So each attempt reads another one of the recorded remotes. */
  async #askForOne(recorded: readonly Recorded[]): Promise<void> {
    const all = singly(recorded);
    const one = all[(this.#failure?.attempts ?? 0) % all.length];
    if (one) await isPermitted(this.#options.readOne(...one));
  }

  #fail(count: number): void {
    if (this.#options.isConfirmed) {
      this.#forgetFormer();
      this.#accept();
      return;
    }
    const before = this.#failure;
    const { backoff } = before ?? { backoff: new Backoff(DELAYS, this.#options.clock) };
    backoff.next();
    this.#failure = { count, backoff, attempts: before ? before.attempts + 1 : 0 };
    if (!before) this.#options.onProblem?.(true);
    throw this.problem;
  }

  /**
   * Why the operator changes nothing in the account. Undefined: the key is proved, or nothing speaks against it yet.
   */
  get problem(): Blocked | undefined {
    if (!this.#failure) return undefined;
    const { count: recorded } = this.#failure;
    const way = recorded === 0 ? this.#options.unread?.() : undefined;
    const object = namedAccount(this.#options.confirmedOn?.() ?? "");
    const options = { afterSeconds: DELAYS.cap };
    return way === undefined ? keyUnproved({ recorded, object }, options) : keyUnprovable({ way, object }, options);
  }

  /** Whether the key could not be proved and it is time for another attempt. */
  get isAttemptDue(): boolean {
    return this.#failure?.backoff.isDue === true;
  }

  /**
   * `requested`: the value of the annotation reconcile-requested-at. It counts only if a person has set it after the
   * problem was reported. Returns whether a person has confirmed that this account, which has none of the recorded ids,
   * is the right one.
   */
  confirm(requested: string | undefined): boolean {
    if (!this.#failure) return false;
    this.#reportedRequest ??= requested ?? "";
    if (requested === undefined || requested === this.#reportedRequest) return false;
    // From now on it is another account, so keys of the former one prove nothing.
    this.#forgetFormer();
    this.#accept();
    return true;
  }

  /** Ids that were recorded under former keys belong to another account, or no longer exist. */
  #forgetFormer(): void {
    this.#proved.clear();
    this.#options.onAlone?.();
    this.#record = {};
    this.#isAnother = true;
  }

  #accept(): void {
    if (this.#digest === undefined) return;
    this.#proved.add(this.#digest);
    this.#solve();
    // Records the key at once, since somebody may delete the last id that proves it while no operator runs. If
    // recording fails, the next change fails in the same way.
    this.ensureRecorded().catch(() => undefined);
  }

  #solve(): void {
    if (!this.#failure) return;
    this.#failure = undefined;
    this.#reportedRequest = undefined;
    this.#options.onProblem?.(false);
  }
}

type Recorded = readonly [Source, ReadonlySet<string>];

const singly = (recorded: readonly Recorded[]): (readonly [Source, string])[] =>
  recorded.flatMap(([source, ids]) => [...ids].map((id) => [source, id] as const));

/** The modules that show remotes which no list shows: one of each remote comes first. */
function unlistedOf(recorded: readonly Recorded[]): (readonly [Source, string])[] {
  const all = singly(recorded.filter(([source]) => !hasList(source)));
  const byID = [...Map.groupBy(all, ([, id]) => id).values()];
  return [...byID.flatMap((some) => some.slice(0, 1)), ...byID.flatMap((some) => some.slice(1))];
}

/** False when it is forbidden: a key without permission to read one resource can still be proved by another. */
async function isPermitted(reading: Promise<void>): Promise<boolean> {
  try {
    await reading;
    return true;
  } catch (error) {
    if (!isForbidden(error)) throw error;
    return false;
  }
}

/** False when it is forbidden, or has failed: then `problems` gets the error. */
const succeeds = (reading: Promise<void>, problems: unknown[]): Promise<boolean> =>
  isPermitted(reading).catch((error: unknown) => {
    problems.push(error);
    return false;
  });
