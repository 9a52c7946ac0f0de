import type { Reason } from "../schema/contract.ts";

/** Why an object is not where it should be. The class is its fate: what has to happen before it goes on. */
abstract class BaseReconcileError extends Error {
  readonly reason: Reason;
  /** When to look again at the latest, in seconds; without it the delay grows with each attempt. */
  readonly afterSeconds: number | undefined;

  /** `message` begins with what to do, in one line; it is what people read in the condition. */
  constructor(reason: Reason, message: string, options: ErrorOptions & { afterSeconds?: number } = {}) {
    super(message, options);
    this.reason = reason;
    this.afterSeconds = options.afterSeconds;
  }
}

/** Nothing is wrong; something that is needed is not there yet. */
export class Waiting extends BaseReconcileError {
  override readonly name = "Waiting";
}

/** Nothing gets better until a person changes something. */
export class Blocked extends BaseReconcileError {
  override readonly name = "Blocked";
}

/** Something failed that may work the next time. */
export class Retry extends BaseReconcileError {
  override readonly name = "Retry";
}

/** The cache was behind, or somebody else wrote first: look again at once, and say nothing. */
export class Outdated extends Error {
  override readonly name = "Outdated";
}

export type ReconcileError = Waiting | Blocked | Retry;

export const isReconcileError = (error: unknown): error is ReconcileError => error instanceof BaseReconcileError;
