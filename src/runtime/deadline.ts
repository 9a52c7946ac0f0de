import type { Clock, Timer } from "./clock.ts";

/** Why a signal was aborted when it was time, not a caller, that ended the work. */
export class TimedOut extends Error {
  override readonly name = "TimedOut";
  constructor(milliseconds: number) {
    super(`Took longer than ${milliseconds / 1000} s`);
  }
}

/**
 * A signal that follows a parent and can also be aborted by time. To be disposed (`using`): neither timer
 * nor listener then stays on a parent that lives as long as the process.
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

  /** Counts from now again, with another length if one is given. */
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

/** Rejects with the reason of the signal as soon as it is aborted; the work, which others may share, goes on. */
export async function unless<T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> {
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
