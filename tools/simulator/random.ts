const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

export interface Random {
  /** In [0, 1). */
  fraction(): number;
  /** Base62, so case matters. */
  text(length: number): string;
}

/** Mulberry32: the same seed gives the same ids, tokens and chances. */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  const fraction = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const text = (length: number): string => {
    let out = "";
    for (let index = 0; index < length; index++) out += base62.charAt(Math.floor(fraction() * 62));
    return out;
  };
  return { fraction, text };
}
