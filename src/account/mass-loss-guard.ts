import type { Resource } from "../gateway/resource.ts";
import { conditionOf, isReconcileRequested, type ManagedObject, reconcileRequestedAt } from "../objects/object.ts";
import type { Clock } from "../runtime/clock.ts";

/** How soon one of what is missing is asked for, at first and at the longest: the right key may be back any moment. */
const FIRST_RECHECK_MS = 2_000;
export const MAX_RECHECK_MS = 20_000;

/** An object that is blocked is looked at more often than this, and suspects its account anew. */
const SUSPICION_MS = 60 * 60_000;

/** A remote that is missing, to be asked for until it is back. */
export interface Suspect {
  resource: Resource;
  id: string;
}

export interface Loss {
  missing: number;
  total: number;
}

interface Suspicion extends Suspect {
  loss: Loss;
  since: number;
  recheckAt: number;
  delayMs: number;
}

export interface MassLossGuardOptions {
  clock: Clock;
  /** Told when the account comes under suspicion, and when it is cleared of all. */
  onChange?: (suspected: boolean) => void;
}

/** What is remembered of an account that is suspected of being another one than before. */
export class MassLossGuard {
  readonly #options: MassLossGuardOptions;
  readonly #suspicions = new Map<string, Suspicion>();
  readonly #confirmed = new Map<string, string | undefined>();

  constructor(options: MassLossGuardOptions) {
    this.#options = options;
  }

  suspect({ resource, id }: Suspect, loss: Loss): void {
    const now = this.#options.clock.now();
    const { recheckAt = now + FIRST_RECHECK_MS, delayMs = FIRST_RECHECK_MS } =
      this.#suspicions.get(resource.name) ?? {};
    const first = this.#suspicions.size === 0;
    this.#suspicions.set(resource.name, { resource, id, loss, since: now, recheckAt, delayMs });
    if (first) this.#options.onChange?.(true);
  }

  isSuspected({ name }: Resource): boolean {
    return this.#suspicions.has(name);
  }

  /** What is missing of one resource; undefined when nothing is suspected. */
  get problem(): (Loss & { resource: Resource }) | undefined {
    const [first] = this.#suspicions.values();
    return first && { resource: first.resource, ...first.loss };
  }

  clear({ name }: Resource): void {
    if (this.#suspicions.delete(name) && this.#suspicions.size === 0) this.#options.onChange?.(false);
  }

  /** One remote of each resource, each once in a while. */
  takeDueRechecks(): Suspect[] {
    const now = this.#options.clock.now();
    for (const { resource, since } of [...this.#suspicions.values()])
      if (now - since > SUSPICION_MS) this.clear(resource);
    const due = [...this.#suspicions.values()].filter(({ recheckAt }) => now >= recheckAt);
    for (const suspicion of due) {
      suspicion.delayMs = Math.min(suspicion.delayMs * 2, MAX_RECHECK_MS);
      suspicion.recheckAt = now + suspicion.delayMs;
    }
    return due;
  }

  /**
   * Whether a person has asked for a look after having been told; a wish from before means nothing of the kind.
   * Remembered, since the status tells of other things by the time the remote is made.
   */
  isConfirmed(object: ManagedObject): boolean {
    const asked = reconcileRequestedAt(object);
    const { uid } = object.metadata;
    if (!isReconcileRequested(object)) return false;
    const told = conditionOf(object.status, "Synced")?.reason === "AccountMismatch";
    if (told) this.#confirmed.set(uid, asked);
    return this.#confirmed.get(uid) === asked;
  }

  forget(uid: string): void {
    this.#confirmed.delete(uid);
  }
}
