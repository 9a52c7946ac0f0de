import { setTimeout as sleep } from "node:timers/promises";
import type { Line } from "../../../tools/demo/screen/line.ts";
import { Screen } from "../../../tools/demo/screen/screen.ts";

const ROWS = 50;
const COLUMNS = 80;
const POLL_MS = 50;
const SAID_MS = 240_000;
const LAST_LINES = 20;

/** A terminal of a demo that keeps what is printed, so that it can be looked at in any width. */
export class RecordedScreen extends Screen {
  readonly #prints: ((screen: Screen) => void)[] = [];

  constructor() {
    super({ isTTY: true, columns: COLUMNS, rows: ROWS, write: () => undefined }, {});
  }

  override print(...lines: readonly Line[]): void {
    this.#prints.push((screen) => screen.print(...lines));
  }

  override printClipped(...lines: readonly Line[]): void {
    this.#prints.push((screen) => screen.printClipped(...lines));
  }

  override printWrapped(...lines: readonly Line[]): void {
    this.#prints.push((screen) => screen.printWrapped(...lines));
  }

  /** What is redrawn in place is gone when the demo goes on. */
  override live(): void {}

  /** What a terminal of this width shows, without colours and what was redrawn. */
  lines(columns: number): string[] {
    let text = "";
    const output = { isTTY: true, columns, rows: ROWS, write: (more: string) => (text += more) };
    const screen = new Screen(output, { NO_COLOR: "1" });
    for (const print of this.#prints) print(screen);
    return text.replaceAll("\x1b[?25h", "").split("\n").slice(0, -1);
  }

  /** Resolves with the first line that contains a text. Fails after a time. */
  async said(text: string): Promise<string> {
    for (const begin = Date.now(); Date.now() < begin + SAID_MS; ) {
      const line = this.lines(COLUMNS).find((one) => one.includes(text));
      if (line !== undefined) return line;
      await sleep(POLL_MS);
    }
    throw new Error(`The demo has not said ${text}:\n${this.lines(COLUMNS).slice(-LAST_LINES).join("\n")}`);
  }
}
