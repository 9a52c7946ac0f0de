import { setTimeout as sleep } from "node:timers/promises";
import type { Terminal } from "../terminal/terminal.ts";

/** The time is over. The message names the condition that was not met. */
export class WaitTimeout extends Error {
  override readonly name = "WaitTimeout";
}

/** Checks the condition every second until it is true. Throws WaitTimeout. */
export type Wait = (what: string, condition: () => Promise<boolean>) => Promise<void>;

/** A Wait whose calls together take at most so many seconds. */
export function waitAtMost(seconds: number, everyMs = 1000): Wait {
  const end = performance.now() + seconds * 1000;
  return async (what, condition) => {
    while (!(await condition())) {
      if (performance.now() + everyMs > end) throw new WaitTimeout(`Not within ${seconds} s: waited for ${what}`);
      await sleep(everyMs);
    }
  };
}

/** A Wait that shows its condition and its duration on a terminal. */
export function shownOn({ progress }: Pick<Terminal, "progress">, wait: Wait): Wait {
  if (!progress) return wait;
  return async (what, condition) => {
    const since = performance.now();
    const show = () => progress(`Waiting for ${what}: ${Math.round((performance.now() - since) / 1000)} s`);
    try {
      await wait(what, () => {
        show();
        return condition();
      });
    } finally {
      progress("");
    }
  };
}
