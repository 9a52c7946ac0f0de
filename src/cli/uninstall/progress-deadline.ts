import { conditionOf, isPaused, type ManagedObject } from "../../objects/object.ts";
import type { OwnObject } from "../cluster/objects.ts";
import { WaitTimeout } from "../cluster/wait.ts";

const MINUTE_MS = 60_000;

/** A working operator changes the state of some object within this time, since it retries each one. */
const ANYTHING_MS = 4 * MINUTE_MS;

/**
 * An object waits at most ten minutes until its DNS records are gone. The rest is for an operator that starts again.
 */
const RECORDS_MS = 12 * MINUTE_MS;

/** A paused object waits for a person. By this time, every object that is not paused has been tried. */
const PAUSED_MS = 20_000;

/** Ends a wait for objects to go when nothing is under way any more. */
export class ProgressDeadline {
  readonly #now: () => number;
  #last = "";
  #since: number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#since = now();
  }

  /**
   * Call it with the remaining objects after each look. Throws WaitTimeout if their state has not changed for too long.
   */
  observe(left: readonly OwnObject[]): void {
    const seen = left.map(stateOf).sort().join("\n");
    if (seen !== this.#last) this.#since = this.#now();
    this.#last = seen;
    const limit = limitFor(left);
    if (this.#now() - this.#since < limit) return;
    throw new WaitTimeout(`Nothing has changed for ${limit / 1000} s`);
  }
}

function limitFor(left: readonly OwnObject[]): number {
  if (left.some((one) => reasonOf(one) === "DNSRecordRemains")) return RECORDS_MS;
  return left.some(({ object }) => isPaused(object as ManagedObject)) ? PAUSED_MS : ANYTHING_MS;
}

/** Leaves out the message, since it may contain a time that counts up without progress. */
const stateOf = (one: OwnObject): string => `${one.object.metadata.uid} ${reasonOf(one)}`;

const reasonOf = ({ object }: OwnObject): string | undefined => conditionOf(object.status, "Ready")?.reason;
