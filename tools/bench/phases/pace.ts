/** Durations and intervals of the phases, in seconds. */
export interface Pace {
  /** The duration of the phase `trickle`, with 20 objects a second. */
  trickle: number;
  /** The resync interval in the phase `resync`. */
  resync: number;
  /** The time at rest in the phase `big`. */
  idle: number;
  /** The resync intervals in the phase `big`, without a request limit and with one. */
  bigResync: number;
  limitedBigResync: number;
}

export const usualPace: Pace = { trickle: 30, resync: 10, idle: 20, bigResync: 30, limitedBigResync: 120 };
