import type { Clock, Timer } from "./clock.ts";

/** The reason of a signal that was aborted because the time was over. */
export class TimedOut extends Error {
  override readonly name = "TimedOut";
  constructor(milliseconds: number) {
    super(`Took longer than ${milliseconds / 1000} s`);
  }
}

/**
 * A signal that is aborted with its parent, or when the time is over. Declare it with `using`: disposal removes the
 * timer, and the listener on a parent that may live as long as the process.
 */
export class Deadline implements Disposable {
  readonly #abort = new AbortController();
  readonly #clock: Clock;
  readonly #parent: AbortSignal | undefined;
  #timer: Timer | undefined;

  constructor(clock: Clock, milliseconds?: number, parent?: AbortSignal) {
    this.#clock = clock;
    this.#parent = parent;
    if (parent?.aborted) this.#follow();
    parent?.addEventListener("abort", this.#follow, { once: true });
    if (milliseconds !== undefined) this.restart(milliseconds);
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Starts the time anew, with this length. `reason` is what the signal is aborted with at its end. */
  restart(milliseconds: number, reason: () => unknown = () => new TimedOut(milliseconds)): void {
    this.#timer?.clear();
    if (this.signal.aborted) return;
    this.#timer = this.#clock.setTimeout(() => this.abort(reason()), milliseconds);
  }

  abort(reason: unknown): void {
    this.#abort.abort(reason);
  }

  readonly #follow = (): void => this.#abort.abort(this.#parent?.reason);

  [Symbol.dispose](): void {
    this.#timer?.clear();
    this.#parent?.removeEventListener("abort", this.#follow);
  }
}

/** Resolves as `work` does, or rejects as soon as the signal is aborted. The work then goes on: others may share it. */
export async function abortable<T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal?.reason);
  if (signal?.aborted) abort();
  signal?.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([aborted, work]);
  } finally {
    signal?.removeEventListener("abort", abort);
  }
}
