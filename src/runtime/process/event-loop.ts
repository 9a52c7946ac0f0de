import { monitorEventLoopDelay } from "node:perf_hooks";

/**
 * A check that fails while the event loop is so late, most of the time, that nothing can be done in time any more.
 * One long stall is no reason: a restart would not undo it. Counts from the check before.
 */
export function eventLoopCheck({ limitSeconds = 1 } = {}): (() => string | undefined) & Disposable {
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  const check = () => {
    const seconds = delay.percentile(50) / 1e9;
    delay.reset();
    return seconds > limitSeconds ? `the event loop is late by ${seconds.toFixed(1)} s` : undefined;
  };
  return Object.assign(check, { [Symbol.dispose]: () => void delay.disable() });
}
