import type { EventEmitter } from "node:events";

const SAME_REQUEST_MS = 1_000;

/**
 * Calls back each time this process is asked to end, by Ctrl-C or a signal. Signals within a second of each other count
 * once: npm passes Ctrl-C on to a process that has it from the terminal already.
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
