import type { Resource } from "../gateway/resource.ts";
import { Backoff } from "../runtime/backoff.ts";
import type { Clock } from "../runtime/clock.ts";

/** Between two reads of a missing remote. */
export const RECHECK_DELAYS = { base: 2, cap: 20, jitter: 0 };

/** A suspected loss is dropped when no reconcile reports it for this long. Blocked objects are retried more often. */
const EXPIRY_MS = 60 * 60_000;

/** A missing remote of a suspected loss. It is read again and again until it is back. */
export interface MissingRemote {
  resource: Resource;
  id: string;
}

/** How many remotes are missing, and how many there should be, over all kinds. */
export interface Loss {
  missing: number;
  total: number;
}

interface SuspectedLoss extends MissingRemote {
  loss: Loss;
  recordedAt: number;
  readonly recheck: Backoff;
}

export interface MassLossGuardOptions {
  clock: Clock;
  /**
   * The time in milliseconds in which the lists of all resources are read again. Remotes lost within it count as one
   * loss.
   */
  windowMs: number;
  /**
   * Whether the administrator of the operator has confirmed that the remotes that are missing at the start were
   * deleted.
   */
  isConfirmedAtStart?: boolean;
  /**
   * Called with true for the first suspected loss, and with false when no loss is suspected any more, because the missing
   * remotes are back or the loss is confirmed: reconcile the objects that were stopped.
   */
  onChange?: (isSuspected: boolean) => void;
}

/**
 * Remembers that many remotes of an account are missing at once, over all kinds. The operator then takes no remote for
 * deleted, and creates nothing of a kind of which nothing is left, until the missing remotes are back or a person
 * confirms the loss. For a GatewayAccount, the confirmation is its annotation; for the operator's own credentials, a
 * setting at the start. An editor of objects cannot confirm it, because the account serves others too.
 */
export class MassLossGuard {
  readonly #options: MassLossGuardOptions;
  readonly #suspected = new Map<string, SuspectedLoss>();
  /** Ids of lost remotes that are created again, and when each loss was seen. Monotonic milliseconds. */
  readonly #lost = new Map<string, number>();
  readonly #accepted = new Set<string>();
  readonly #confirmedUntil = new Map<string, number>();
  readonly #requestsBefore = new Map<string, string>();
  #hasBegun = false;

  constructor(options: MassLossGuardOptions) {
    this.#options = options;
  }

  /** Call it when the account is first used. A confirmation at the start counts from then on. */
  begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    if (this.#options.isConfirmedAtStart) this.#confirmedUntil.set("", this.#windowEnd);
  }

  suspect({ resource, id }: MissingRemote, loss: Loss): void {
    const now = this.#options.clock.now();
    const { recheck = this.#firstRecheck() } = this.#suspected.get(resource.name) ?? {};
    const first = this.#suspected.size === 0;
    this.#suspected.set(resource.name, { resource, id, loss, recordedAt: now, recheck });
    if (first) this.#options.onChange?.(true);
  }

  get isSuspected(): boolean {
    return this.#suspected.size > 0;
  }

  /** The suspected loss that was reported last; undefined when there is none. */
  get problem(): Loss | undefined {
    return [...this.#suspected.values()].toSorted((a, b) => b.recordedAt - a.recordedAt)[0]?.loss;
  }

  clear({ name }: Resource): void {
    if (this.#suspected.delete(name) && this.#suspected.size === 0) this.#options.onChange?.(false);
  }

  /** The missing remotes that are due to be read again, one for each resource. Schedules their next read. */
  takeDueRechecks(): MissingRemote[] {
    const now = this.#options.clock.now();
    for (const { resource, recordedAt } of [...this.#suspected.values()])
      if (now - recordedAt > EXPIRY_MS) this.clear(resource);
    const due = [...this.#suspected.values()].filter(({ recheck }) => recheck.isDue);
    for (const { recheck } of due) recheck.next();
    return due;
  }

  #firstRecheck(): Backoff {
    const recheck = new Backoff(RECHECK_DELAYS, this.#options.clock);
    recheck.next();
    return recheck;
  }

  /**
   * Records that the service says the remote is gone, and that so few remotes are missing that it may be created again.
   */
  recordLost(id: string): void {
    if (!this.#accepted.has(id) && !this.#lost.has(id)) this.#lost.set(id, this.#options.clock.now());
  }

  /**
   * Ids of remotes that were lost within the window, including those that were created again. While a loss is suspected
   * all of them belong to it, so waiting does not end the loss.
   */
  get recentlyLost(): string[] {
    const since = this.#options.clock.now() - this.#options.windowMs;
    for (const [id, at] of this.#lost) if (at < since && !this.isSuspected) this.#lost.delete(id);
    return [...this.#lost.keys()];
  }

  /** Records that the remote belongs to a confirmed loss. It does not count towards later losses. */
  accept(id: string): void {
    this.#accepted.add(id);
    this.#lost.delete(id);
  }

  isAccepted(id: string): boolean {
    return this.#accepted.has(id);
  }

  /** Whether a person has confirmed the present loss for these credentials. */
  isConfirmed(credentials: string): boolean {
    return this.#options.clock.now() < (this.#confirmedUntil.get(credentials) ?? Number.NEGATIVE_INFINITY);
  }

  /**
   * `credentials`: `namespace/name` of the GatewayAccount that confirms, for its own objects. `requested`: its annotation
   * reconcile-requested-at. A person has to set it after the loss was reported.
   */
  confirm(credentials: string, requested: string | undefined): void {
    if (!this.isSuspected) {
      this.#requestsBefore.delete(credentials);
      return;
    }
    const before = this.#requestsBefore.get(credentials) ?? requested ?? "";
    this.#requestsBefore.set(credentials, before);
    if (requested === undefined || requested === before) return;
    this.confirmAll(credentials);
  }

  /** Call it when a person has confirmed that the account has none of the remotes that these credentials recorded. */
  confirmAll(credentials: string): void {
    this.#requestsBefore.delete(credentials);
    this.#confirmedUntil.set(credentials, this.#windowEnd);
    // Objects of other credentials whose remotes are missing will report the loss again.
    for (const { resource } of [...this.#suspected.values()]) this.clear(resource);
  }

  get #windowEnd(): number {
    return this.#options.clock.now() + this.#options.windowMs;
  }
}
