import { createInterface } from "node:readline/promises";

/** The output of a command. A text may have several lines; a line break is added at its end. */
export interface Terminal {
  /** Prints to stdout. */
  say: (text: string) => void;
  /** Prints to stderr. */
  warn: (text: string) => void;
  /** Shows how far a command is, in one line that the next one replaces. Unset where nobody watches. */
  progress?: ((text: string) => void) | undefined;
  /** Asks a question, and resolves with true for yes. Unset where nobody can answer. */
  ask?: ((question: string) => Promise<boolean>) | undefined;
  /** The width of stdout; unset in a pipe, where no line is cut. */
  columns?: number | undefined;
  /** Whether stdout takes colours. */
  hasColours?: boolean | undefined;
}

/** `noColour`: the user wants no colours, whatever the terminal can show. */
export function terminalOf({ noColour }: { noColour: boolean }): Terminal {
  const { stdin, stdout, stderr } = process;
  return {
    say: (text) => console.log(text),
    warn: (text) => console.error(text),
    progress: stderr.isTTY ? (text) => stderr.write(`\r\x1b[K${text}`) : undefined,
    ask: stdin.isTTY && stderr.isTTY ? ask : undefined,
    columns: stdout.isTTY ? stdout.columns : undefined,
    hasColours: stdout.isTTY === true && !noColour,
  };
}

async function ask(question: string): Promise<boolean> {
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await prompt.question(`${question} [y/N] `)).trim());
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
}
