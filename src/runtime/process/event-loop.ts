import { monitorEventLoopDelay } from "node:perf_hooks";

/**
 * A check that fails when the event loop was late by more than the limit for most of the time since the last check.
 * A single long stall is no failure, since a restart would not undo it.
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
