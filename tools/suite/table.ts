import type { Outcome } from "./reporter.ts";
import type { Timed } from "./timed.ts";

/** What a part of the suite came to. */
export interface Row extends Outcome, Omit<Timed, "code"> {
  readonly name: string;
  /** What `calibrate` returned around it, on average. */
  readonly calibration: number;
  /** Tools were built meanwhile. */
  readonly hasBuilt: boolean;
  /** See `shareOf`. */
  share?: number | undefined;
}

const HEAD = ["part", "files", "passed", "failed", "wall s", "CPU s", "of budget"];

const cellsOf = ({
  name,
  files,
  passed,
  failed,
  seconds,
  cpuSeconds,
  share,
  hasBuilt,
}: Omit<Row, "failures" | "calibration">): string[] => [
  ...[name, files, passed, failed, Math.round(seconds), Math.round(cpuSeconds)].map(String),
  share === undefined ? `-${hasBuilt ? " (built tools)" : ""}` : `${Math.round(share * 100)} %`,
];

/** The sums of all parts. */
export function total(rows: readonly Row[]): Omit<Row, "share" | "hasBuilt" | "failures" | "calibration"> {
  const sum = (of: (row: Row) => number) => rows.reduce((all, row) => all + of(row), 0);
  return {
    name: "all",
    files: sum(({ files }) => files),
    passed: sum(({ passed }) => passed),
    failed: sum(({ failed }) => failed),
    seconds: sum(({ seconds }) => seconds),
    cpuSeconds: sum(({ cpuSeconds }) => cpuSeconds),
  };
}

/** What each part took, and all of them. */
export function table(rows: readonly Row[]): string[] {
  const last = cellsOf({ ...total(rows), hasBuilt: false }).slice(0, -1);
  const lines = [HEAD, ...rows.map(cellsOf), last];
  const width = (column: number) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0));
  return lines.map((cells) =>
    cells.map((cell, column) => (column === 0 ? cell.padEnd(width(0)) : cell.padStart(width(column)))).join("  "),
  );
}
