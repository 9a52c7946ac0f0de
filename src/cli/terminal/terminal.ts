import { createInterface } from "node:readline/promises";
import { type Lines, printed, wrappedLines } from "./line.ts";
import { plain } from "./plain.ts";
import { type Part, progressLine } from "./progress.ts";

/** The output of a command: lines, whose text may come from anybody (see `printed`). */
export interface Terminal {
  /** Prints to stdout. */
  say: (lines: Lines) => void;
  /** Prints to stderr, with lines that are broken where they are wider than the terminal. */
  warn: (lines: Lines) => void;
  /** Shows how far a command is, in one line that whatever is printed next replaces. Unset where nobody watches. */
  progress?: ((text: string, part?: Part) => void) | undefined;
  /** Empties the screen. Unset in a pipe. */
  clear?: (() => void) | undefined;
  /** Asks a question, and resolves with true for yes. Unset where nobody can answer. */
  ask?: ((question: string) => Promise<boolean>) | undefined;
  /** How the user calls the program, for hints that name a command. Unset: as a plug-in of kubectl. */
  name?: string | undefined;
  /** The width of stdout; unset in a pipe, where no line is cut. */
  columns?: number | undefined;
  /** Whether stdout takes colours. */
  hasColours?: boolean | undefined;
}

/** Where the texts of a terminal go, as they are. */
export interface Streams {
  out: (text: string) => void;
  err: (text: string) => void;
  /** The width of stderr; unset in a pipe. */
  errColumns?: number | undefined;
}

/** A terminal on these streams, without what only a person can use. */
export const terminalOn = (
  { out, err, errColumns }: Streams,
  hasColours = false,
): Pick<Terminal, "say" | "warn" | "hasColours"> => ({
  say: (lines) => out(`${printed(lines, hasColours)}\n`),
  warn: (lines) => err(`${printed(wrappedLines(lines, errColumns), false)}\n`),
  hasColours,
});

/** Some terminals do not know their width, and say 0. */
const widthOf = ({ isTTY, columns }: NodeJS.WriteStream): number | undefined =>
  isTTY && columns > 0 ? columns : undefined;

/** `noColour`: the user wants no colours, whatever the terminal can show. */
export function terminalOf({ noColour }: { noColour: boolean }): Terminal {
  const { stdin, stdout, stderr } = process;
  stdout.on("error", endWithReader);
  let isShown = false;
  const show = (line: string): void => {
    if (isShown || line !== "") stderr.write(`\r\x1b[K${line}`);
    isShown = line !== "";
  };
  const write = (stream: NodeJS.WriteStream, text: string): void => {
    show("");
    stream.write(text);
  };
  const streams = {
    out: (text: string) => write(stdout, text),
    err: (text: string) => write(stderr, text),
    errColumns: widthOf(stderr),
  };
  return {
    ...terminalOn(streams, stdout.isTTY === true && !noColour),
    progress: stderr.isTTY ? (text, part) => show(progressLine(text, part, widthOf(stderr))) : undefined,
    clear: stdout.isTTY ? () => write(stdout, "\x1b[H\x1b[2J") : undefined,
    ask: stdin.isTTY && stderr.isTTY ? (question) => ask(question, () => show("")) : undefined,
    columns: widthOf(stdout),
  };
}

/** Whoever read the output has ended, as `head` does. A program in C is ended by SIGPIPE then, which a shell shows as 141. */
function endWithReader(error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE") process.exit(141);
  throw error;
}

async function ask(question: string, before: () => void): Promise<boolean> {
  before();
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await prompt.question(`${plain(question)} [y/N] `)).trim());
  } finally {
    prompt.close();
  }
}

/** Invalid arguments; the message says which. The exit code is 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** A command cannot go on, and the message says why in one line. The exit code is 1. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  /** Lines below the message. */
  readonly details: readonly string[];

  constructor(message: string, { details = [], cause }: { details?: readonly string[]; cause?: unknown } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.details = details;
  }
}
