/** Returns a number of at least 0 and less than 1. */
export interface Random {
  (): number;
  below(limit: number): number;
  of<T>(list: readonly T[]): T;
}

/** Random numbers that are the same for the same seed (mulberry32). */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return Object.assign(next, { below, of: <T>(list: readonly T[]): T => list[below(list.length)] as T });
}
