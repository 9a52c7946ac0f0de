/** Where a command says what it does; each text is one line or several, without the last line break. */
export interface Terminal {
  /** What was asked for. */
  say: (text: string) => void;
  /** What went wrong. */
  warn: (text: string) => void;
}

export const terminal: Terminal = {
  say: (text) => console.log(text),
  warn: (text) => console.error(text),
};

/** Bad arguments; the message says which, and how to ask for help. Ends a command with exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
