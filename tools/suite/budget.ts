import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const FILE = join(import.meta.dirname, "budget.json");
/** What a part may take of its budget. */
const MOST = 1.5;

export interface Budget {
  /** What `calibrate` returned on the machine where the CPU seconds of the parts were measured. */
  readonly calibration: number;
  /** The CPU seconds of each part. */
  readonly parts: Readonly<Record<string, number>>;
}

/** What a part took: its CPU seconds, and what `calibrate` returned around it. */
export interface Taken {
  readonly name: string;
  readonly cpuSeconds: number;
  readonly calibration: number;
}

export const readBudget = (): Budget => JSON.parse(readFileSync(FILE, "utf8"));

/** Keeps what these parts have taken as what they may take, in the seconds of the machine on which others were measured. */
export function writeBudget(taken: readonly Taken[]): void {
  const { calibration, parts } = readBudget();
  const now = taken.map(({ name, cpuSeconds, calibration: own }): [string, number] => [
    name,
    Math.round(cpuSeconds * (calibration / own)),
  ]);
  const budget: Budget = { calibration, parts: { ...parts, ...Object.fromEntries(now) } };
  writeFileSync(FILE, `${JSON.stringify(budget, null, 2)}\n`);
}

/** How much of its budget a part took, 1 for all of it, on a machine of this speed. Undefined: it has no budget. */
export function shareOf(
  { calibration, parts }: Budget,
  { name, cpuSeconds, calibration: now }: Taken,
): number | undefined {
  const budget = parts[name];
  return budget === undefined ? undefined : cpuSeconds / (budget * (now / calibration));
}

/** What is wrong with the share of a part, and what to do. Undefined: nothing is. */
export function problemOf(part: string, share: number | undefined): string | undefined {
  if (share === undefined)
    return `tools/suite/budget.json has no CPU seconds for the part ${part}: SUITE_BUDGET=write keeps what it took`;
  if (share <= MOST) return undefined;
  return (
    `The part ${part} took ${Math.round(share * 100)} % of the CPU seconds that tools/suite/budget.json allows. ` +
    "Find out which files have grown. If they have to, SUITE_BUDGET=write before the same command keeps what they took"
  );
}
