import { asText, defineProgram, listOf, seed, UsageError, wholeNumber } from "../shared/program.ts";

/** A line of a file, counted from 1. */
export interface Place {
  readonly file: string;
  readonly line: number;
}

export function readPlace(text: string): Place {
  const [, file, line] = /^(.+):(\d+)$/.exec(text) ?? [];
  if (file === undefined) throw new UsageError("must be a file and a line, as in src/reconcile/reconcile.ts:12");
  return { file, line: Number(line) };
}

export const program = defineProgram({
  command: "npm run mutate --",
  about: `Changes one expression of the code at a time and runs the unit tests. Prints each change that no test notices.`,
  options: {
    files: {
      value: "path,path",
      about: "what is changed: folders or files",
      initial: ["src/reconcile", "src/account", "src/objects"],
      read: listOf(asText),
    },
    count: { value: "n", about: "changes that are tried, chosen at random", initial: 40, read: wholeNumber(1) },
    seed: seed("repeats the choices of a run"),
    at: {
      value: "file:line,file:line",
      about: "try all changes that begin there, and no others",
      initial: [],
      read: listOf(readPlace),
    },
    concurrency: {
      value: "n",
      about: "changes that are tried at a time",
      initial: undefined,
      initially: "as the number of cores allows",
      read: wholeNumber(1),
    },
  },
});
