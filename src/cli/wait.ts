import { setTimeout as sleep } from "node:timers/promises";

/** The time is over; the message says what was waited for. */
export class OutOfTime extends Error {
  override readonly name = "OutOfTime";
}

/** Asks every second until the answer is true. Throws OutOfTime. */
export type Wait = (what: string, isSo: () => Promise<boolean>) => Promise<void>;

/** All waits with it share so many seconds. */
export function waitAtMost(seconds: number, everyMs = 1000): Wait {
  const end = performance.now() + seconds * 1000;
  return async (what, isSo) => {
    while (!(await isSo())) {
      if (performance.now() + everyMs > end) throw new OutOfTime(`Not within ${seconds} s: waited for ${what}`);
      await sleep(everyMs);
    }
  };
}
