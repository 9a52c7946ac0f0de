import type { EventEmitter } from "node:events";

const SAME_REQUEST_MS = 1_000;

/**
 * Calls back each time somebody asks this process to end, by Ctrl-C or a signal. Signals within a second count as one:
 * npm forwards Ctrl-C to a process that the terminal has sent it to already.
 */
export function onInterrupt(callback: () => void, from: EventEmitter = process): void {
  let last = Number.NEGATIVE_INFINITY;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    from.on(signal, () => {
      const now = performance.now();
      if (now - last < SAME_REQUEST_MS) return;
      last = now;
      callback();
    });
  }
}
