import { join } from "node:path";
import { Operator, type OperatorSettings, undisturbed } from "../../tools/shared/operator.ts";

const clockPreload = join(import.meta.dirname, "clock-preload.ts");

export interface TestSettings extends OperatorSettings {
  /** The test has its clocks in hand: `rate` is how much faster than usual they run. */
  clock?: { readonly rate: number };
}

/** The operator in a process of its own, so that a test can kill it. */
export class OperatorProcess extends Operator {
  constructor({ clock, env, ...settings }: TestSettings) {
    super({
      ...settings,
      nodeFlags: clock ? ["--import", clockPreload] : [],
      env: { ...undisturbed, LOG_LEVEL: "debug", ...(clock && { TEST_CLOCK_RATE: String(clock.rate) }), ...env },
    });
  }

  /** Sets its calendar. */
  setClockBy(milliseconds: number): void {
    this.send({ setBy: milliseconds });
  }
}
