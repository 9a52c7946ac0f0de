import { randomFrom } from "../shared/random.ts";

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

export interface Random {
  /** In [0, 1). */
  fraction(): number;
  /** Base62, so case matters. */
  text(length: number): string;
}

/** The same seed gives the same ids, tokens and chances. */
export function seeded(seed: number): Random {
  const fraction = randomFrom(seed);
  const text = (length: number): string => {
    let out = "";
    for (let index = 0; index < length; index++) out += base62.charAt(Math.floor(fraction() * 62));
    return out;
  };
  return { fraction, text };
}
