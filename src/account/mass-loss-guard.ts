import type { Resource } from "../gateway/resource.ts";
import { conditionOf, isReconcileRequested, type ManagedObject, reconcileRequestedAt } from "../objects/object.ts";
import type { Clock } from "../runtime/clock.ts";

/** The first and the longest delay between two reads of a missing remote. */
const FIRST_RECHECK_MS = 2_000;
export const MAX_RECHECK_MS = 20_000;

/** A suspected loss is dropped when no reconcile reports it for this long. Blocked objects are retried more often. */
const EXPIRY_MS = 60 * 60_000;

/** A missing remote of a suspected loss. It is read again and again until it is back. */
export interface MissingRemote {
  resource: Resource;
  id: string;
}

export interface Loss {
  missing: number;
  total: number;
}

interface SuspectedLoss extends MissingRemote {
  loss: Loss;
  recordedAt: number;
  recheckAt: number;
  delayMs: number;
}

export interface MassLossGuardOptions {
  clock: Clock;
  /** Called with true for the first suspected loss, and with false when no loss is suspected any more. */
  onChange?: (suspected: boolean) => void;
}

/**
 * Remembers, by resource, that many remotes are missing at once. The API key may then belong to another account, so
 * nothing is created or taken for deleted until one of the missing remotes is back or a person confirms the loss.
 */
export class MassLossGuard {
  readonly #options: MassLossGuardOptions;
  readonly #suspected = new Map<string, SuspectedLoss>();
  readonly #confirmed = new Map<string, string | undefined>();

  constructor(options: MassLossGuardOptions) {
    this.#options = options;
  }

  suspect({ resource, id }: MissingRemote, loss: Loss): void {
    const now = this.#options.clock.now();
    const { recheckAt = now + FIRST_RECHECK_MS, delayMs = FIRST_RECHECK_MS } = this.#suspected.get(resource.name) ?? {};
    const first = this.#suspected.size === 0;
    this.#suspected.set(resource.name, { resource, id, loss, recordedAt: now, recheckAt, delayMs });
    if (first) this.#options.onChange?.(true);
  }

  isSuspected({ name }: Resource): boolean {
    return this.#suspected.has(name);
  }

  /** One of the suspected losses; undefined when there is none. */
  get problem(): (Loss & { resource: Resource }) | undefined {
    const [first] = this.#suspected.values();
    return first && { resource: first.resource, ...first.loss };
  }

  clear({ name }: Resource): void {
    if (this.#suspected.delete(name) && this.#suspected.size === 0) this.#options.onChange?.(false);
  }

  /** The missing remotes, one of each resource, that are due to be read again. Schedules the read after that. */
  takeDueRechecks(): MissingRemote[] {
    const now = this.#options.clock.now();
    for (const { resource, recordedAt } of [...this.#suspected.values()])
      if (now - recordedAt > EXPIRY_MS) this.clear(resource);
    const due = [...this.#suspected.values()].filter(({ recheckAt }) => now >= recheckAt);
    for (const loss of due) {
      loss.delayMs = Math.min(loss.delayMs * 2, MAX_RECHECK_MS);
      loss.recheckAt = now + loss.delayMs;
    }
    return due;
  }

  /**
   * Whether a person requested a reconcile of the object after its status reported the loss; a request from before
   * does not confirm it. The answer is remembered, since the status changes before the remote is created again.
   */
  isConfirmed(object: ManagedObject): boolean {
    const asked = reconcileRequestedAt(object);
    const { uid } = object.metadata;
    if (!isReconcileRequested(object)) return false;
    const wasReported = conditionOf(object.status, "Synced")?.reason === "AccountMismatch";
    if (wasReported) this.#confirmed.set(uid, asked);
    return this.#confirmed.get(uid) === asked;
  }

  forget(uid: string): void {
    this.#confirmed.delete(uid);
  }
}
