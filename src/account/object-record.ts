import type { GatewayError } from "../gateway/errors.ts";
import { maxProcessingMs } from "../objects/intent.ts";
import { isReconcileRequested, type ManagedObject } from "../objects/object.ts";
import type { ReconcileError } from "../objects/reconcile-error.ts";
import { Backoff, type BackoffOptions, delayAfter } from "../runtime/backoff.ts";
import type { Clock } from "../runtime/clock.ts";
import { Corrections } from "./corrections.ts";

/** How long what the service refused, such as an owner mark, waits before it is tried again. */
export const REFUSED_DELAYS = { base: 30 * 60, cap: 24 * 3600, jitter: 0 };

/** So long a late update is remembered. By then, looks at the account have shown whether it has come. */
const LATE_MEMORY_MS = 60 * 60_000;

/** So many that the longest delay follows. */
const MANY = 64;

/** A failed attempt of one object. */
export interface Failure {
  /** The error that the status of the object reports. */
  readonly error: ReconcileError;
  /** The error that the service answered with. */
  readonly cause: GatewayError;
  /** What the object asked for. An object that asks for something else is tried at once. */
  readonly asked: string;
  /** Digest of the values that the spec refers to. Undefined: the attempt failed before they were read. */
  readonly inputs: string | undefined;
  /** Whether the failure may end without an edit of the object, for example when somebody changes another object. */
  readonly isTransient: boolean;
}

/** The last attempt of an object, which failed. Written by Failures alone. */
export interface FailedAttempt extends Failure {
  /** The failures of the account in which it failed. */
  readonly failures: { forget(record: ObjectRecord): void };
  readonly route: string;
  /** Failures in a row. */
  readonly count: number;
  readonly at: number;
  readonly until: number;
  /** Whether the account or the route has answered since, so that the object may be tried at once. */
  readonly isReleased: boolean;
}

/** A place in the line for a request budget. Written by Turns alone. */
export interface Place {
  readonly lane: string;
  readonly granted: Promise<void>;
  isGranted: boolean;
  leave(): void;
}

/** The removal of an object's DNS records, which comes before the release of its remote. */
export interface Withdrawal {
  /** When it began, by the monotonic clock in milliseconds. */
  began: number;
  /** Set when the records were seen to be gone, or the time limit was reached. */
  ended?: true;
}

interface RefusedMark {
  id: string;
  refusals: number;
  tryAt: number;
  /** The status says so, and this process has not tried. */
  isRecalled?: true;
}

interface ObjectRecordOptions {
  clock: Clock;
  /** The deadline of one request, in milliseconds. */
  deadlineMs: number;
  /** Since when this process has the object, so that every request of another process began before. Monotonic. */
  since: number;
  /** False for a plan: what the service has refused, such as an owner mark, is no change that will come. */
  retriesRefused: boolean;
}

/**
 * All that this process remembers of one object, whichever account has its remote. It ends with the object's work; see
 * ObjectMemory. What a reconcile notes later is lost.
 */
export class ObjectRecord {
  /** See Failures. */
  failed: FailedAttempt | undefined;
  /** Whether an attempt of this process has failed, in any account. */
  hasFailed = false;
  /** See Turns. */
  place: Place | undefined;
  /** The wait for which the last reconcile was postponed. `failure`: why that wait failed. */
  wait: { failure?: unknown } | undefined;
  readonly corrections: Corrections;
  /** The removal of its DNS records. A new process starts the wait again. */
  withdrawal: Withdrawal | undefined;
  /** What this process has seen of its DNSEndpoint. `gone`: there is none. `kept`: it has no owner reference, if it exists. */
  endpoint: "gone" | "kept" | undefined;
  /** Ids of remotes whose deletion got no answer, so that they may or may not exist. */
  readonly uncertainDeletes = new Set<string>();
  readonly #options: ObjectRecordOptions;
  /** The replaced remotes that cannot be deleted yet, by id. */
  readonly #deferredDeletes = new Map<string, Backoff>();
  #isEnded = false;
  #futileCreate: string | undefined;
  #refusedMark: RefusedMark | undefined;
  /** Generation of the object at an update of its remote that got no answer. */
  #unansweredUpdate: number | undefined;
  #settledAt: number;
  /** By generation, when an update was given up that no answer has ended. Unset at rest: a map per object is large. */
  #lateUpdates: Map<number | undefined, number> | undefined;

  constructor(options: ObjectRecordOptions) {
    this.#options = options;
    this.corrections = new Corrections(options.clock);
    this.#settledAt = options.since + maxProcessingMs(options.deadlineMs);
  }

  /** The deadline of one request, in milliseconds. */
  get deadlineMs(): number {
    return this.#options.deadlineMs;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Call it when the work of the object has ended. Objects that wait for it in a line go on. */
  end(): void {
    this.#isEnded = true;
    this.wait = undefined;
    this.failed?.failures.forget(this);
    this.place?.leave();
  }

  /**
   * Records that this create made nothing in its account: it was not sent, or a search has proved it. So no reconcile has
   * to search for the remote.
   */
  recordFutileCreate(create: string): void {
    this.#futileCreate = create;
  }

  isCreateFutile(create: string): boolean {
    return this.#futileCreate === create;
  }

  /** Records that a change got no answer: the service may still carry it out. */
  recordUnansweredChange(): void {
    const { clock, deadlineMs } = this.#options;
    this.#settledAt = clock.now() + maxProcessingMs(deadlineMs);
  }

  /** Records that nothing that was sent for the object is under way. A list that began before says nothing of it. */
  recordSettled(): void {
    this.#settledAt = this.#options.clock.now();
  }

  /**
   * From when on the service can no longer carry out any change of this object, of this process or of one before, but
   * for the DELETE of a remote that was replaced. Monotonic milliseconds. Nothing that is written in the object can make
   * it earlier.
   */
  get settledAt(): number {
    return this.#settledAt;
  }

  /** Records that an update got no answer, so that the service may or may not have carried it out. */
  recordUnansweredUpdate({ metadata }: ManagedObject): void {
    this.#unansweredUpdate = metadata.generation;
  }

  /**
   * Whether an update for an earlier generation of the object got no answer. The remote may then differ from what
   * earlier answers have shown. An update for the same generation is sent again in any case.
   */
  hasUnansweredUpdate({ metadata }: ManagedObject): boolean {
    return this.#unansweredUpdate !== undefined && this.#unansweredUpdate !== metadata.generation;
  }

  /** Records that no answer has ended an update, so that it may come after others that are sent later. */
  recordLateUpdate({ metadata }: ManagedObject): void {
    const now = this.#options.clock.now();
    const recent = [...(this.#lateUpdates ?? [])].filter(([, at]) => now - at <= LATE_MEMORY_MS);
    this.#lateUpdates = new Map([...recent, [metadata.generation, now]]);
  }

  /** Whether an update may have come late. `of`: that is not of its present generation. */
  hasLateUpdate(of?: ManagedObject): boolean {
    const now = this.#options.clock.now();
    return [...(this.#lateUpdates ?? [])].some(
      ([generation, at]) => now - at <= LATE_MEMORY_MS && (!of || generation !== of.metadata.generation),
    );
  }

  /** Call it when an answer has shown the remote of the object as it is now. */
  forgetUnansweredUpdate(): void {
    this.#unansweredUpdate = undefined;
  }

  /** A replaced remote cannot be deleted now. Each time in a row it waits longer. */
  deferDelete(id: string, delays: BackoffOptions): void {
    const backoff = this.#deferredDeletes.get(id) ?? new Backoff(delays, this.#options.clock);
    this.#deferredDeletes.set(id, backoff);
    backoff.next(0, delays);
  }

  /** 0 when the replaced remote may be looked at now. */
  secondsUntilDelete(id: string): number {
    return this.#deferredDeletes.get(id)?.secondsLeft ?? 0;
  }

  /** Call it when a remote of the object is gone. */
  forgetRemote(id: string): void {
    this.#deferredDeletes.delete(id);
    this.uncertainDeletes.delete(id);
  }

  /** Records that the service refused another owner mark for this remote. A single refusal may have another cause. */
  recordRefusedMark(id: string): void {
    const before = this.#refusedMark?.id === id ? this.#refusedMark.refusals : 0;
    const tryAt = this.#options.clock.now() + delayAfter(REFUSED_DELAYS, before, Math.random) * 1000;
    this.#refusedMark = { id, refusals: before + 1, tryAt };
  }

  /** Call it when it is unknown again whether the service refuses the mark. */
  forgetRefusedMark(): void {
    this.#refusedMark = undefined;
  }

  /**
   * Seconds until this owner mark may be sent for a remote of the object; 0 if it was not refused. What the status says
   * of an earlier process counts as long as this one has not seen for itself what the service refuses: `mayRecall`.
   */
  secondsUntilMark(object: ManagedObject, id: string, mark: string, mayRecall: boolean): number {
    const isInStatus = object.status?.id === id && object.status.refusedMark?.owner === mark;
    if (!this.#options.retriesRefused && isInStatus) return Number.POSITIVE_INFINITY;
    if (isInStatus && mayRecall) this.#refusedMark ??= this.#recall(id, object.status?.refusedMark?.retryAt ?? "");
    const refused = this.#refusedMark;
    if (refused?.id !== id || (refused.isRecalled && isReconcileRequested(object))) return 0;
    return Math.max((refused.tryAt - this.#options.clock.now()) / 1000, 0);
  }

  #recall(id: string, retryAt: string): RefusedMark {
    const { clock } = this.#options;
    const remainingMs = (Date.parse(retryAt) || 0) - clock.date().getTime();
    const tryAt = clock.now() + Math.min(remainingMs, REFUSED_DELAYS.cap * 1000);
    return { id, refusals: MANY, isRecalled: true, tryAt };
  }
}
