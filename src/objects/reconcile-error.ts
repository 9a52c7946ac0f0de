import type { Reason } from "../schema/contract.ts";

/** What an error says, as data. `by`: the declaration in objects/errors that made it. */
interface Said {
  readonly by: unknown;
  readonly values: object;
}

export interface ReportOptions extends ErrorOptions {
  /** Seconds until the next attempt at the latest. Default: left to the backoff. */
  readonly afterSeconds?: number | undefined;
  readonly said?: Said;
}

/**
 * Why a reconcile could not finish. The class says what has to happen before the object can make progress. Each that the
 * operator reports is declared in objects/errors: make it there.
 */
abstract class BaseReconcileError extends Error {
  readonly reason: Reason;
  /** Seconds until the next attempt at the latest; undefined leaves it to the backoff. */
  readonly afterSeconds: number | undefined;
  readonly #said: Said | undefined;

  /** `message` becomes the condition's message: one line that begins with what to do. */
  constructor(reason: Reason, message: string, options: ReportOptions = {}) {
    super(message, options);
    this.reason = reason;
    this.afterSeconds = options.afterSeconds;
    this.#said = options.said;
  }

  get said(): Said | undefined {
    return this.#said;
  }
}

/** Something that the object needs does not exist yet. */
export class Waiting extends BaseReconcileError {
  override readonly name = "Waiting";
}

/** No progress until a person changes something. */
export class Blocked extends BaseReconcileError {
  override readonly name = "Blocked";
}

/** An earlier process reported this refusal. The same request is not sent again so soon. */
export class RefusedBefore extends Blocked {}

/** Something failed that may succeed the next time. */
export class Retry extends BaseReconcileError {
  override readonly name = "Retry";
}

/** The cache is stale, or somebody else wrote first: reconcile again soon, and report nothing. */
export class Outdated extends Error {
  override readonly name: string = "Outdated";
}

/** The reconcile would have to wait for long: reconcile again when `until` is settled, and report nothing. */
export class Postponed extends Outdated {
  readonly until: Promise<unknown>;

  constructor(until: Promise<unknown>) {
    super("Waiting for the account");
    this.until = until;
  }
}

export type ReconcileError = Waiting | Blocked | Retry;

export const isReconcileError = (error: unknown): error is ReconcileError => error instanceof BaseReconcileError;

/** Throws the error, where there is one. */
export function refuse(error: ReconcileError | undefined): void {
  if (error) throw error;
}
