import { nightlyTests } from "./parts.ts";

export interface Failure {
  /** From the root of the repository. */
  readonly file: string;
  readonly project: string;
  /** The name of the test and of what it stands in. Empty: the file as a whole. */
  readonly name: string;
  readonly errors: readonly { readonly message: string }[];
  readonly operator: string | undefined;
}

const NIGHTLY = nightlyTests.map((pattern) => pattern.slice(0, pattern.indexOf("*")));
/** Of an error. */
const MOST_LINES = 60;
/** Random tests name the variable with their seed, and its value. */
const SEED = /\b([A-Z]+_SEED)=(\d+)/g;

/** Lines that say what failed, why, what the operator printed last, and how to repeat it. */
export function describeFailure(failure: Failure): string[] {
  const { file, name, errors, operator } = failure;
  // without a test, as in a hook, nobody but the error may have these lines
  const more = operator ? [] : errors.flatMap(({ message }) => message.split("\n").slice(1, MOST_LINES));
  return [
    "",
    `FAILED ${[file, name].filter(Boolean).join(" > ")}`,
    ...errors.map(({ message }) => `  because ${message.split("\n")[0]}`),
    ...more.map((line) => `    ${line}`),
    ...(operator ? ["  The operator's last lines:", ...operator.split("\n").map((line) => `    ${line}`)] : []),
    `  again: ${commandFor(failure)}`,
  ];
}

/** The command that runs the file again with the same seeds. Tests of a file may build on each other. */
function commandFor({ file, project, name }: Failure): string {
  const isNightly = NIGHTLY.some((folder) => file.startsWith(folder));
  const seeds = [...name.matchAll(SEED)].map(([text]) => `${text} `).join("");
  return `${seeds}npm run test:file -- ${isNightly ? "--mode nightly " : ""}--project ${project} ${file}`;
}
