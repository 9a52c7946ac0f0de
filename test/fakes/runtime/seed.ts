import { randomInt } from "node:crypto";

/**
 * The first seed when nobody has chosen one. It is always the same, so that a change passes or fails by what it changes.
 * Other seeds are for the search: CHAOS_SEED=random.
 */
const USUAL_SEED = 20_261_123;

const given = process.env["CHAOS_SEED"];

/**
 * Seeds for random tests, which print them. CHAOS_SEED=<number> repeats a run, and CHAOS_SEED=random takes seeds that
 * nobody has tried.
 */
export function seeds(count: number): number[] {
  if (given === "random") return Array.from({ length: count }, () => randomInt(2 ** 31));
  if (given !== undefined) return [Number(given)];
  return Array.from({ length: count }, (_, index) => USUAL_SEED + index);
}

export const seed = (): number => seeds(1)[0] as number;
