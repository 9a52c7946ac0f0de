import { createHash } from "node:crypto";
import { relative } from "node:path";

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
  /** Counted from 1. If it is given, all mutants that begin in this line are chosen, and no others. */
  readonly line?: number | undefined;
}

/** The same seed chooses the same mutants. An edit of one file leaves the choice in the other files nearly as it was. */
export function choose<Item extends Mutant>(mutants: readonly Item[], { count, seed, line }: Sampling): Item[] {
  if (line !== undefined) return mutants.filter(({ location }) => location.start.line + 1 === line);
  const ranked = mutants.map((mutant) => ({ mutant, rank: rank(mutant, seed) }));
  ranked.sort((one, other) => (one.rank < other.rank ? -1 : 1));
  return ranked.slice(0, count).map(({ mutant }) => mutant);
}

function rank({ fileName, mutatorName, replacement, location }: Mutant, seed: number): string {
  const { line, column } = location.start;
  const name = [seed, relative(process.cwd(), fileName), line, column, mutatorName, replacement];
  return createHash("sha256").update(JSON.stringify(name)).digest("hex");
}
