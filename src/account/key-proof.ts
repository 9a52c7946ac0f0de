import { hash } from "node:crypto";
import type { Resource } from "../gateway/resource.ts";
import { keyUnprovable, keyUnproved, namedAccount } from "../objects/errors/account.ts";
import type { Source } from "../objects/evidence.ts";
import { type Blocked, Outdated } from "../objects/reconcile-error.ts";
import { Backoff } from "../runtime/backoff.ts";
import type { Clock } from "../runtime/clock.ts";
import { type EvidenceOptions, KeyEvidence, type Recorded } from "./key-evidence.ts";
import { KeyRecord, type KeyRecordOptions } from "./key-record.ts";

/**
 * For comparing keys. White space around a key is no part of it. Each process has the same digest of a key, since what
 * outlives the process is made from it with the secret of the operator (see operator/accounts/key-records.ts). The digest
 * itself is kept in memory alone.
 */
export const digestOf = (key: string): string => hash("sha256", key.trim(), "base64");

/** Between attempts to prove a key. */
const DELAYS = { base: 2, cap: 20, jitter: 0 };

/** Ids in the statuses of objects, by what shows the remotes. */
export type RecordedIDs = ReadonlyMap<Source, ReadonlySet<string>>;

export interface KeyProofOptions extends EvidenceOptions, KeyRecordOptions {
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
  /** Digests of keys that are known to lead to the account with the recorded remotes. */
  proved?: Iterable<string>;
  /** Called when all other keys are known to lead to another account, or to one in which nothing is left. */
  onAlone?: () => void;
  /** The name of the GatewayAccount on which a person confirms. Default: empty, for the operator's own credentials. */
  confirmedOn?: () => string;
  /** Called with true when a key cannot be proved, and with false when it is proved after all. */
  onProblem?: (exists: boolean) => void;
}

interface Failure {
  /** How many ids are recorded. */
  count: number;
  /** Since the first attempt, which has asked for all. */
  attempts: number;
  readonly backoff: Backoff;
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
  #failure: Failure | undefined;
  #reportedRequest: string | undefined;
  readonly #evidence: KeyEvidence;
  readonly #record: KeyRecord;

  constructor(options: KeyProofOptions) {
    this.#options = options;
    this.#proved = new Set(options.proved);
    this.#evidence = new KeyEvidence(options, () => this.isProved);
    this.#record = new KeyRecord(options);
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

  /** Digests of the keys that are known to be of this account. */
  get proved(): ReadonlySet<string> {
    return this.#proved;
  }

  /** Records that the key belongs to this account, as other credentials have proved. */
  accept(digest: string): void {
    this.#proved.add(digest);
    if (digest === this.#digest) this.#solve();
  }

  /** Whether the key is proved, or needs no proof since nothing is recorded. */
  get isTrusted(): boolean {
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
    if (this.isTrusted) return this.#solve();
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
    if (this.isTrusted) this.#solve();
    else await this.ensure();
    const digest = this.#digest;
    // The digest is known only after the first request.
    if (digest === undefined || this.#record.isWritten) return;
    await this.#record.write(digest, this.isProved);
    // Meanwhile, more credentials may have joined, which have records of their own.
    await this.ensureRecorded();
  }

  /** Call it when more credentials share the account. They have records of their own. */
  recordAgain(): void {
    this.#record.renew();
  }

  /**
   * Call it right before the first byte of a change is written, with the digest of the API key that is sent. Throws
   * Outdated if ids were recorded since `ensure` has resolved that the key has not shown. Call `recordFirstID` when the
   * service has carried the change out.
   */
  assertMayChange(digest: string): void {
    if (digest !== this.#digest || !this.isTrusted || !this.#record.isWritten)
      throw new Outdated("it is not proved yet that the API key is one of this account");
  }

  async #prove(read?: Resource): Promise<void> {
    const recorded = [...this.#options.recorded()].sort(([, one], [, other]) => other.size - one.size);
    // The key of the operator is known only after its first reading, and there is nothing to ask the service for.
    if (recorded.length === 0 && this.#digest === undefined) throw new Outdated("the API key is not known yet");
    await (this.#failure
      ? this.#askForOne(recorded, this.#failure)
      : this.#evidence.askForAll(recorded, () => this.#acceptRecordedKey(), read));
    if (!this.isTrusted) this.#fail(new Set(recorded.flatMap(([, ids]) => [...ids])).size);
  }

  async #askForOne(recorded: readonly Recorded[], failure: Failure): Promise<void> {
    try {
      await this.#evidence.askForOne(recorded, failure.attempts);
    } catch (error) {
      // It may be this one remote that the service fails to show, so the next attempt comes later and asks for another.
      failure.backoff.next();
      failure.attempts += 1;
      throw error;
    }
  }

  /** Comes after the lists: an ordinary start proves the key by the lists that it needs anyway. */
  async #acceptRecordedKey(): Promise<void> {
    const digest = this.#digest;
    if (digest !== undefined && (await this.#record.earlierAllow(digest))) this.#accept();
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
    this.#record.replaceEarlier();
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
