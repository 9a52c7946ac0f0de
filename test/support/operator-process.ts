import { join } from "node:path";
import { Operator, type OperatorSettings, undisturbed } from "../../tools/shared/operator.ts";

const clockPreload = join(import.meta.dirname, "preload/clock.ts");

export interface TestSettings extends OperatorSettings {
  /** Lets the test control its clocks. They run faster by the factor `rate`. */
  clock?: { readonly rate: number };
}

/** What tests use of an operator, wherever it runs. */
export interface TestOperator extends Pick<Operator, "url" | "read" | "metric" | "clusterRequests" | "lines" | "said"> {
  readonly isRunning: boolean;
  /** See OperatorInWorker. Undefined in a process of its own, where nobody knows. */
  readonly writesUnderWay?: number;
  /** See Operator. */
  readonly startedAt: number;
  started(): Promise<this>;
  exited(): Promise<number | null>;
  stop(): Promise<number | null>;
}

/** The operator with settings for tests: no limits, no periodic lists, all log lines. */
export class OperatorProcess extends Operator implements TestOperator {
  constructor({ clock, env, nodeFlags = [], ...settings }: TestSettings) {
    super({
      ...settings,
      nodeFlags: [...nodeFlags, ...(clock ? ["--import", clockPreload] : [])],
      env: { ...undisturbed, LOG_LEVEL: "debug", ...(clock && { TEST_CLOCK_RATE: String(clock.rate) }), ...env },
    });
  }

  /** Adjusts its wall clock. */
  setClockBy(milliseconds: number): void {
    this.send({ setBy: milliseconds });
  }
}
