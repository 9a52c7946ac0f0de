/** The output of a command. A text may have several lines; a line break is added at its end. */
export interface Terminal {
  /** Prints to stdout. */
  say: (text: string) => void;
  /** Prints to stderr. */
  warn: (text: string) => void;
}

export const terminal: Terminal = {
  say: (text) => console.log(text),
  warn: (text) => console.error(text),
};

/** Invalid arguments; the message says which. The exit code is 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
