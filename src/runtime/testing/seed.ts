import { randomInt } from "node:crypto";

const given = process.env["CHAOS_SEED"];

/** Seeds for random tests, which print them. CHAOS_SEED=<number> repeats a run. */
export const seeds = (count: number): number[] =>
  given === undefined ? Array.from({ length: count }, () => randomInt(2 ** 31)) : [Number(given)];

export const seed = (): number => seeds(1)[0] as number;
