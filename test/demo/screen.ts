import { styleText } from "node:util";
import { clip, type Line } from "./line.ts";

const HIDE_CURSOR = "\x1b[?25l";
const SHOW_CURSOR = "\x1b[?25h";
const CLEAR_TO_END_OF_LINE = "\x1b[K";
const CLEAR_BELOW = "\x1b[J";
const up = (lines: number) => (lines > 0 ? `\r\x1b[${lines}A` : "\r");

/** What `process.stdout` is, as far as it matters here. */
export interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
}

/** Lines that stay, and on a terminal, below them, lines that are redrawn in place. */
export class Screen {
  readonly #output: Output;
  readonly #paint: (line: Line) => string;
  readonly #terminal: boolean;
  #live: readonly Line[] = [];
  #drawn = 0;

  constructor(output: Output, env: NodeJS.ProcessEnv = process.env) {
    this.#output = output;
    this.#terminal = output.isTTY === true && env["TERM"] !== "dumb";
    const colours = this.#terminal && !env["NO_COLOR"];
    this.#paint = (spans) =>
      spans
        .map(({ text, style }) => (style && colours ? styleText(style, text, { validateStream: false }) : text))
        .join("");
  }

  /** Undefined where lines cannot be redrawn: in a file, a pipe, the log of a CI run. */
  get size(): { columns: number; rows: number } | undefined {
    if (!this.#terminal) return undefined;
    return { columns: this.#output.columns ?? 80, rows: this.#output.rows ?? 24 };
  }

  print(...lines: readonly Line[]): void {
    const text = lines.map((spans) => `${this.#paint(spans)}${this.#terminal ? CLEAR_TO_END_OF_LINE : ""}\n`).join("");
    this.#output.write(`${this.#rewind()}${text}`);
    this.#draw();
  }

  /** Takes the place of the lines given before. Nothing happens where lines cannot be redrawn. */
  live(lines: readonly Line[]): void {
    if (!this.size) return;
    this.#output.write(this.#rewind());
    this.#live = lines;
    this.#draw();
  }

  #rewind(): string {
    const back = this.#drawn > 0 ? up(this.#drawn) : "";
    this.#drawn = 0;
    return back;
  }

  #draw(): void {
    const { size } = this;
    if (!size) return;
    const lines = this.#live.slice(0, size.rows - 1);
    const text = lines.map((spans) => `${this.#paint(clip(spans, size.columns - 1))}${CLEAR_TO_END_OF_LINE}\n`);
    this.#output.write(`${lines.length > 0 ? HIDE_CURSOR : SHOW_CURSOR}${text.join("")}${CLEAR_BELOW}`);
    this.#drawn = lines.length;
  }

  /** Leaves the terminal as it was. */
  restore(): void {
    if (this.#terminal) this.#output.write(SHOW_CURSOR);
  }
}
