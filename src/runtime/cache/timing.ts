import type { BackoffOptions } from "../backoff.ts";

/** Timing of a reflector, in seconds. Where client-go has the same setting, the default is the same. */
export interface ReflectorTiming {
  backoff: BackoffOptions & { resetAfter: number };
  /** A watch is requested for a random time between this and twice this. */
  watchSeconds: number;
  /** A watch that the server should have ended is ended by the client after this further time. */
  graceSeconds: number;
  /** A watch without events is broken after this. An idle server sends bookmarks after 120 s, then every 60 s. */
  idleSeconds: number;
  /** Like `idleSeconds`, while the initial objects are streamed. */
  initialIdleSeconds: number;
  /** For this long after a failed stream of initial objects, lists are requested in pages. */
  pagesSeconds: number;
  /** When a watch was open for this long before it broke, the delays after failures start anew. */
  healthySeconds: number;
  /** A watch that ends sooner, without any event, counts as a failure. */
  minWatchSeconds: number;
  /** Shortest time between two lists; a random time up to this is added. */
  minListIntervalSeconds: number;
  /**
   * Shortest time before the next attempt to list a kind that the server does not serve; a random time of up to half of
   * this is taken off. The backoff may be longer.
   */
  notServedSeconds: number;
  /** After the server has refused the list for this long, other parts start without it. */
  refusedSeconds: number;
  /** After this long without a list or a watch, the feed counts as dead. */
  deadSeconds: number;
}

export const defaultTiming: ReflectorTiming = {
  backoff: { base: 0.8, cap: 30, resetAfter: 120 },
  watchSeconds: 300,
  graceSeconds: 15,
  idleSeconds: 185,
  initialIdleSeconds: 30,
  pagesSeconds: 3600,
  healthySeconds: 10,
  minWatchSeconds: 1,
  minListIntervalSeconds: 1,
  notServedSeconds: 10,
  refusedSeconds: 5,
  deadSeconds: 60,
};
