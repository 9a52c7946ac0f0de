interface Position {
  /** Both are counted from 1. */
  readonly line: number;
  readonly column: number;
}

interface MutantResult {
  readonly replacement?: string;
  readonly status: string;
  readonly statusReason?: string;
  readonly location: { readonly start: Position; readonly end: Position };
}

/** The report of StrykerJS, as far as it is needed here. */
export interface Report {
  readonly files: Readonly<Record<string, { readonly source: string; readonly mutants: readonly MutantResult[] }>>;
}

/** The reason that a report has for each mutant that was not tried. */
export const NOT_CHOSEN = "not chosen";

const SURVIVED = ["Survived", "NoCoverage"];
// an error outside of a test, which is a RuntimeError, fails a run of the tests as well
const KILLED = ["Killed", "Timeout", "RuntimeError"];

/** A line for each mutant that survived, and one for all. */
export function formatReport({ files }: Report, seed: number): string {
  const tried = Object.entries(files).flatMap(([file, { source, mutants }]) =>
    mutants.filter(isTried).map((mutant) => ({ file, source, mutant })),
  );
  const unknown = tried.find(({ mutant }) => ![...SURVIVED, ...KILLED].includes(mutant.status));
  if (unknown) throw new Error(`${unknown.file}: ${JSON.stringify(unknown.mutant)} neither died nor survived`);
  const survivors = tried.filter(({ mutant }) => SURVIVED.includes(mutant.status));
  const lines = survivors.map(
    ({ file, source, mutant }) => `${file}:${mutant.location.start.line} ${change(source, mutant)}`,
  );
  const killed = tried.length - survivors.length;
  return [...lines, `${killed} killed, ${survivors.length} survived of ${tried.length}, seed ${seed}`].join("\n");
}

const isTried = ({ status, statusReason }: MutantResult): boolean =>
  status !== "Ignored" && !(status === "CompileError" && statusReason === NOT_CHOSEN);

function change(source: string, { location: { start, end }, replacement = "", status }: MutantResult): string {
  const lines = source.split("\n").slice(start.line - 1, end.line);
  const before = lines[0]?.slice(0, start.column - 1) ?? "";
  const after = lines.at(-1)?.slice(end.column - 1) ?? "";
  const reached = status === "NoCoverage" ? " (no test comes here)" : "";
  return `${short(lines.join("\n"))}  ->  ${short(before + replacement + after)}${reached}`;
}

const LONGEST = 120;

function short(text: string): string {
  const line = text.trim().replaceAll(/\s+/g, " ");
  return line.length > LONGEST ? `${line.slice(0, LONGEST / 2)} ... ${line.slice(-LONGEST / 2)}` : line;
}
