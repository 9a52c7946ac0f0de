import { styleText } from "node:util";
import { clip, type Line, wrap } from "./line.ts";

const HIDE_CURSOR = "\x1b[?25l";
const SHOW_CURSOR = "\x1b[?25h";
const CLEAR_LINE = "\x1b[2K";
/** Below what a line is about, beside the time and the kind of change. */
const WRAPPED_INDENT = 12;
/** The width of a terminal that does not say it, and of a file or a pipe. */
const COLUMNS = 80;
const up = (lines: number) => `\r\x1b[${lines}A`;

/** The part of `process.stdout` that is used. */
export interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
}

/** Prints lines. On a terminal it also has live lines below them, which it redraws in place. */
export class Screen {
  readonly #output: Output;
  readonly #paint: (line: Line) => string;
  readonly #terminal: boolean;
  #live: readonly Line[] = [];
  #height = 0;

  constructor(output: Output, env: NodeJS.ProcessEnv = process.env) {
    this.#output = output;
    this.#terminal = output.isTTY === true && env["TERM"] !== "dumb";
    const colours = this.#terminal && !env["NO_COLOR"];
    this.#paint = (spans) =>
      spans
        .map(({ text, style }) => (style && colours ? styleText(style, text, { validateStream: false }) : text))
        .join("");
  }

  /** Undefined where lines cannot be redrawn, as in a file, a pipe or the log of a CI run. */
  get size(): { columns: number; rows: number } | undefined {
    if (!this.#terminal) return undefined;
    return { columns: this.#output.columns ?? COLUMNS, rows: this.#output.rows ?? 24 };
  }

  print(...lines: readonly Line[]): void {
    const text = lines.map((spans) => `${this.#paint(spans)}\n`).join("");
    this.#output.write(`${this.#erased()}${text}${this.#drawn()}`);
  }

  /** Like `print`, but cuts lines to the width of the terminal. */
  printClipped(...lines: readonly Line[]): void {
    const { size } = this;
    this.print(...(size ? lines.map((spans) => clip(spans, size.columns)) : lines));
  }

  /** Like `print`, but breaks lines that are wider than the terminal, or than 80 characters in a file or a pipe. */
  printWrapped(...lines: readonly Line[]): void {
    const { columns } = this.size ?? { columns: COLUMNS };
    this.print(...lines.flatMap((spans) => wrap(spans, columns, WRAPPED_INDENT)));
  }

  /** Replaces the live lines. Does nothing where lines cannot be redrawn. */
  live(lines: readonly Line[]): void {
    if (!this.size) return;
    this.#live = lines;
    this.#output.write(`${this.#erased()}${this.#drawn()}`);
  }

  /** Line by line: some terminals keep what is cleared all at once in their history. */
  #erased(): string {
    if (this.#height === 0) return "";
    return `${up(this.#height)}${`${CLEAR_LINE}\n`.repeat(this.#height)}${up(this.#height)}`;
  }

  #drawn(): string {
    const { size } = this;
    if (!size) return "";
    const lines = this.#live.slice(0, size.rows - 1);
    this.#height = lines.length;
    const text = lines.map((spans) => `${this.#paint(clip(spans, size.columns - 1))}\n`);
    return `${lines.length > 0 ? HIDE_CURSOR : SHOW_CURSOR}${text.join("")}`;
  }

  /** Restores the terminal. */
  restore(): void {
    if (this.#terminal) this.#output.write(SHOW_CURSOR);
  }
}
