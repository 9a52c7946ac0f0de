import type { Intent } from "../objects/intent.ts";
import type { ManagedObject } from "../objects/object.ts";
import type { Clock } from "../runtime/clock.ts";
import { CorrectionCounter } from "./correction-counter.ts";
import { CreateSettlement } from "./create-settlement.ts";

/** What this process remembers of single objects, also when an object comes to belong to another account. */
export class ObjectMemory {
  readonly corrections: CorrectionCounter;
  readonly createSettlement: CreateSettlement;
  readonly #refusedCreates = new Map<string, number>();
  /** Uids of objects, by the ids of remotes that were found again for them. */
  readonly #claims = new Map<string, string>();

  constructor(clock: Clock, deadlineMs: number) {
    this.corrections = new CorrectionCounter(clock);
    this.createSettlement = new CreateSettlement(clock, deadlineMs);
  }

  /**
   * The create of this intent made nothing in the account to which it was sent: the service refused it, or a search has
   * proved it. So there is no remote to search for.
   */
  recordRefusedCreate(object: ManagedObject, intent: Intent): void {
    this.#refusedCreates.set(object.metadata.uid, intent.last);
  }

  isCreateRefused(object: ManagedObject, intent: Intent): boolean {
    return this.#refusedCreates.get(object.metadata.uid) === intent.last;
  }

  /** Records that this remote was found for the object. No other object takes it, even before the status has its id. */
  claim(id: string, { metadata }: ManagedObject): void {
    this.#claims.set(id, metadata.uid);
  }

  isClaimedByOther(id: string, { metadata }: ManagedObject): boolean {
    const holder = this.#claims.get(id);
    return holder !== undefined && holder !== metadata.uid;
  }

  /** Call it when the object is gone. */
  forget(uid: string): void {
    this.#refusedCreates.delete(uid);
    for (const [id, holder] of this.#claims) if (holder === uid) this.#claims.delete(id);
    this.corrections.forget(uid);
    this.createSettlement.forget(uid);
  }
}
