import { LRUCache } from "lru-cache";
import type { Intent } from "../objects/intent.ts";
import { isReconcileRequested, type ManagedObject } from "../objects/object.ts";
import type { Clock } from "../runtime/clock.ts";
import { CorrectionCounter } from "./correction-counter.ts";
import { CreateSettlement } from "./create-settlement.ts";
import type { Failure, Failures } from "./failures.ts";
import { digestOf } from "./key-proof.ts";

/** What the service refused, such as an owner mark, is tried again after the first time, and then up to the second one. */
export const REFUSED_WAIT_MS = 30 * 60_000;
export const LONGEST_REFUSED_WAIT_MS = 24 * 3_600_000;

const MOST_TOKENS = 1000;
const MOST_LEFT = 1000;

interface RefusedMark {
  id: string;
  waitMs: number;
  tryAt: number;
  /** The status says so, and this process has not tried. */
  isRecalled?: true;
}

/** What this process remembers of each object. It is kept when an object moves to another account. */
export class ObjectMemory {
  readonly corrections: CorrectionCounter;
  readonly createSettlement: CreateSettlement;
  readonly #clock: Clock;
  readonly #futileCreates = new Map<string, number>();
  /** Uids of objects, by the id of the remote that was found again for the object. */
  readonly #claims = new Map<string, string>();
  /** By the uid of an object: the failures of the account in which its last attempt failed. */
  readonly #failedIn = new Map<string, Failures>();
  /** By the uid of an object: the remote for which the service has refused another owner mark, and when it is tried again. */
  readonly #refusedMarks = new Map<string, RefusedMark>();
  /** By the uid of an object: its generation when an update of its remote got no answer. */
  readonly #unansweredUpdates = new Map<string, number>();
  /** Digests of tokens that the service has shown once, by the ids of their remotes. */
  readonly #tokens = new LRUCache<string, string>({ max: MOST_TOKENS });

  /** Modules that an object had set first and left to another one, by the id of the remote and the field of the spec. */
  readonly #leftModules = new LRUCache<string, true>({ max: MOST_LEFT });

  constructor(clock: Clock, deadlineMs: number) {
    this.#clock = clock;
    this.corrections = new CorrectionCounter(clock);
    this.createSettlement = new CreateSettlement(clock, deadlineMs);
  }

  /**
   * Records that the create of this intent made nothing in its account: it was not sent, or a search has proved it. So no
   * reconcile has to search for the remote.
   */
  recordFutileCreate(object: ManagedObject, intent: Intent): void {
    this.#futileCreates.set(object.metadata.uid, intent.last);
  }

  isCreateFutile(object: ManagedObject, intent: Intent): boolean {
    return this.#futileCreates.get(object.metadata.uid) === intent.last;
  }

  /** Records that the service refused another owner mark for this remote. A single refusal may have another cause. */
  recordRefusedMark({ metadata: { uid } }: ManagedObject, id: string): void {
    const before = this.#refusedMarks.get(uid);
    const waitMs = before?.id === id ? Math.min(before.waitMs * 2, LONGEST_REFUSED_WAIT_MS) : REFUSED_WAIT_MS;
    this.#refusedMarks.set(uid, { id, waitMs, tryAt: this.#clock.now() + waitMs });
  }

  /** Call it when it is unknown again whether the service refuses the mark. */
  forgetRefusedMark({ metadata }: ManagedObject): void {
    this.#refusedMarks.delete(metadata.uid);
  }

  /**
   * Seconds until the mark of this remote may be sent again; 0 if it was not refused. `recalled`: the mark that an earlier
   * process may have recorded as refused in the status.
   */
  secondsUntilMark(object: ManagedObject, id: string, recalled?: string): number {
    const refused = this.#refusedMarks.get(object.metadata.uid) ?? this.#recallRefusedMark(object, id, recalled);
    if (refused?.id !== id || (refused.isRecalled && isReconcileRequested(object))) return 0;
    return Math.max((refused.tryAt - this.#clock.now()) / 1000, 0);
  }

  #recallRefusedMark({ metadata, status }: ManagedObject, id: string, mark?: string): RefusedMark | undefined {
    const { refusedMark } = status ?? {};
    if (mark === undefined || status?.id !== id || refusedMark?.owner !== mark) return undefined;
    const leftMs = (Date.parse(refusedMark.retryAt) || 0) - this.#clock.date().getTime();
    const recalled: RefusedMark = {
      id,
      waitMs: LONGEST_REFUSED_WAIT_MS,
      isRecalled: true,
      tryAt: this.#clock.now() + Math.min(leftMs, LONGEST_REFUSED_WAIT_MS),
    };
    this.#refusedMarks.set(metadata.uid, recalled);
    return recalled;
  }

  /** Records that an update got no answer, so that the service may or may not have carried it out. */
  recordUnansweredUpdate({ metadata }: ManagedObject): void {
    this.#unansweredUpdates.set(metadata.uid, metadata.generation);
  }

  /**
   * Whether an update for an earlier generation of the object got no answer. The remote may then differ from what
   * earlier answers have shown. An update for the same generation is sent again in any case.
   */
  hasUnansweredUpdate({ metadata }: ManagedObject): boolean {
    const generation = this.#unansweredUpdates.get(metadata.uid);
    return generation !== undefined && generation !== metadata.generation;
  }

  /** Call it when an answer has shown the remote of the object as it is now. */
  forgetUnansweredUpdate({ metadata }: ManagedObject): void {
    this.#unansweredUpdates.delete(metadata.uid);
  }

  /** Records that this remote was found for the object. No other object takes it, even before the status has its id. */
  claim(id: string, { metadata }: ManagedObject): void {
    this.#claims.set(id, metadata.uid);
  }

  isClaimedByOther(id: string, { metadata }: ManagedObject): boolean {
    const holder = this.#claims.get(id);
    return holder !== undefined && holder !== metadata.uid;
  }

  /** Call it when the object is about to be tried in this account. Its failure in another account no longer matters. */
  tryIn(failures: Failures, uid: string): void {
    const before = this.#failedIn.get(uid);
    if (before === undefined || before === failures) return;
    before.forget(uid);
    this.#failedIn.delete(uid);
  }

  recordFailure(failures: Failures, uid: string, failure: Failure): void {
    this.tryIn(failures, uid);
    failures.failed(uid, failure);
    this.#failedIn.set(uid, failures);
  }

  /** Records the token that the Secret of this remote holds. Only its digest is kept. */
  recordToken(id: string, token: string): void {
    this.#tokens.set(id, digestOf(token));
  }

  tokenDigestOf(id: string): string | undefined {
    return this.#tokens.get(id);
  }

  /** Records that the object that set these modules first is going, and that another object wants them. */
  leaveModules(id: string, fields: readonly string[]): void {
    for (const field of fields) this.#leftModules.set(`${id} ${field}`, true);
  }

  isLeftModule = (id: string, field: string): boolean => this.#leftModules.has(`${id} ${field}`);

  forgetLeftModules(id: string, fields: readonly string[]): void {
    for (const field of fields) this.#leftModules.delete(`${id} ${field}`);
  }

  /** Call it when the object is gone. */
  forget(uid: string): void {
    this.#failedIn.get(uid)?.forget(uid);
    this.#failedIn.delete(uid);
    this.#futileCreates.delete(uid);
    this.#refusedMarks.delete(uid);
    this.#unansweredUpdates.delete(uid);
    for (const [id, holder] of this.#claims) if (holder === uid) this.#claims.delete(id);
    this.corrections.forget(uid);
    this.createSettlement.forget(uid);
  }
}
