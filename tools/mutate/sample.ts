import { createHash } from "node:crypto";
import { relative, resolve } from "node:path";
import type { Place } from "./arguments.ts";

/** A change of the code: what StrykerJS calls a mutant. */
export interface Mutant {
  readonly id: string;
  readonly fileName: string;
  readonly mutatorName: string;
  readonly replacement: string;
  /** Lines are counted from 0. */
  readonly location: { readonly start: { readonly line: number; readonly column: number } };
}

export interface Sampling {
  readonly count: number;
  readonly seed: number;
  /** If there are any, all mutants that begin in these lines are chosen, and no others. */
  readonly places: readonly Place[];
}

/** The same seed chooses the same mutants. An edit of one file leaves the choice in the other files nearly as it was. */
export function choose<Item extends Mutant>(mutants: readonly Item[], { count, seed, places }: Sampling): Item[] {
  if (places.length > 0) return mutants.filter((mutant) => places.some((place) => isAt(mutant, place)));
  const ranked = mutants.map((mutant) => ({ mutant, rank: rank(mutant, seed) }));
  ranked.sort((one, other) => (one.rank < other.rank ? -1 : 1));
  return ranked.slice(0, count).map(({ mutant }) => mutant);
}

const isAt = ({ fileName, location }: Mutant, { file, line }: Place): boolean =>
  resolve(file) === resolve(fileName) && location.start.line + 1 === line;

function rank({ fileName, mutatorName, replacement, location }: Mutant, seed: number): string {
  const { line, column } = location.start;
  const name = [seed, relative(process.cwd(), fileName), line, column, mutatorName, replacement];
  return createHash("sha256").update(JSON.stringify(name)).digest("hex");
}
