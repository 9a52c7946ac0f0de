/** How long the phases take that wait for something, in seconds. */
export interface Pace {
  /** 20 objects are applied in each. */
  trickle: number;
  /** Between two lists of each resource, in the phase resync. */
  resync: number;
  /** At rest, in the phase big. */
  idle: number;
  /** Between two lists of each resource, in the phase big, without a limit of requests and with one. */
  sweep: number;
  limitedSweep: number;
}

export const usualPace: Pace = { trickle: 30, resync: 10, idle: 20, sweep: 30, limitedSweep: 120 };
