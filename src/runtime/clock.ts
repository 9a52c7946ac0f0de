import { performance } from "node:perf_hooks";

export interface Timer {
  clear(): void;
}

export interface Clock {
  /** Monotonic milliseconds since some moment in the past. Use them for durations only. */
  now(): number;
  date(): Date;
  /** Takes any length. Node's own timers fire at once beyond 2^31-1 ms, which is 25 days. */
  setTimeout(callback: () => void, milliseconds: number): Timer;
}

const longest = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => performance.now(),
  date: () => new Date(),
  setTimeout(callback, milliseconds) {
    let handle: NodeJS.Timeout;
    const arm = (remaining: number) => {
      handle = setTimeout(
        () => (remaining > longest ? arm(remaining - longest) : callback()),
        Math.min(Math.max(remaining, 0), longest),
      );
    };
    arm(milliseconds);
    return { clear: () => clearTimeout(handle) };
  },
};

/** Rejects with the signal's reason when it is aborted. Leaves neither timer nor listener behind. */
export function sleep(clock: Clock, milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const abort = () => {
      timer.clear();
      reject(signal?.reason);
    };
    const timer = clock.setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", abort, { once: true });
  });
}
