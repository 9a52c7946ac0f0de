import type { BackoffOptions } from "../backoff.ts";

/** How patient a reflector is; seconds. The defaults are those of client-go where it has them. */
export interface ReflectorTiming {
  backoff: BackoffOptions & { resetAfter: number };
  /** a watch is asked to last between this and twice this */
  watchSeconds: number;
  /** how much later than asked the server may end a watch */
  graceSeconds: number;
  /** servers send bookmarks after 120 s and then every 60 s, when nothing else happens */
  idleSeconds: number;
  /** while the initial objects are streamed */
  initialIdleSeconds: number;
  /** a watch that was open for so long was well: when it breaks, the row of failures begins anew */
  healthySeconds: number;
  /** a watch that ends sooner without any event has failed */
  minWatchSeconds: number;
  /** at least between two lists, and jitter on top */
  minListIntervalSeconds: number;
  /** at most between two looks for a kind that the server does not know */
  notServedSeconds: number;
}

export const defaultTiming: ReflectorTiming = {
  backoff: { base: 0.8, cap: 30, resetAfter: 120 },
  watchSeconds: 300,
  graceSeconds: 15,
  idleSeconds: 185,
  initialIdleSeconds: 30,
  healthySeconds: 10,
  minWatchSeconds: 1,
  minListIntervalSeconds: 1,
  notServedSeconds: 10,
};
