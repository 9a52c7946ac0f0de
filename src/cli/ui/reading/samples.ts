import type { Summary } from "../../status/summary.ts";

export interface Sample {
  /** Milliseconds since 1970. */
  at: number;
  requests: number;
}

/** What is shown of the past, and how close two samples are. */
export const SPAN_MS = 15 * 60_000;
const EVERY_MS = 2_000;

/** How many requests went to each account, as far as this server has looked. */
export class Samples {
  readonly #of = new Map<string, Sample[]>();

  add(at: number, { accounts }: Summary): void {
    for (const { namespace, name, requestsInLastMinute: requests } of accounts) {
      if (requests === undefined) continue;
      const key = `${namespace}/${name}`;
      const known = (this.#of.get(key) ?? []).filter((one) => at - one.at < SPAN_MS);
      const last = known.at(-1);
      this.#of.set(key, last && at - last.at < EVERY_MS ? known : [...known, { at, requests }]);
    }
  }

  of = ({ namespace, name }: { namespace: string; name: string }): readonly Sample[] =>
    this.#of.get(`${namespace}/${name}`) ?? [];
}
