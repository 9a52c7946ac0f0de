/** Durations and intervals of the phases, in seconds. */
export interface Pace {
  /** The duration of the phase `trickle`, with 20 objects a second. */
  trickle: number;
  /** The resync interval in the phase `resync`. */
  resync: number;
  /** The time at rest in the phases `big` and `accounts`. */
  idle: number;
  /** The resync intervals in the phase `big`, without a request limit and with one. */
  bigResync: number;
  limitedBigResync: number;
  /** The number of edits in the phase `accounts`, the time between two, and the resync interval meanwhile. */
  edits: number;
  editEvery: number;
  accountsResync: number;
}

export const usualPace: Pace = {
  trickle: 30,
  resync: 10,
  idle: 20,
  bigResync: 30,
  limitedBigResync: 120,
  edits: 40,
  editEvery: 1.5,
  accountsResync: 5,
};
