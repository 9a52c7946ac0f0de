import type { Span } from "./screen/line.ts";
import type { Screen } from "./screen/screen.ts";

const FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";
const FRAME_MS = 100;
const TITLE_WIDTH = 14;

export interface Step<Result> {
  /** One word or two. */
  readonly title: string;
  /** `say` shows the progress. */
  readonly work: (say: (progress: string) => void) => Promise<Result>;
  /** The text that is shown when the work is done. */
  readonly outcome: (result: Result) => string;
}

/** A frame of the spinner. */
export const frameAt = (milliseconds: number): string =>
  FRAMES[Math.floor(milliseconds / FRAME_MS) % FRAMES.length] ?? "";

/** Does some work, and shows a spinner, the progress and the outcome. */
export async function step<Result>(screen: Screen, { title, work, outcome }: Step<Result>): Promise<Result> {
  const started = performance.now();
  const name: Span = { text: title.padEnd(TITLE_WIDTH), style: "bold" };
  let progress = "";
  const turn = () => {
    const elapsed = performance.now() - started;
    const seconds = elapsed < 1000 ? "" : `  ${Math.floor(elapsed / 1000)} s`;
    screen.live([[{ text: `  ${frameAt(elapsed)} ` }, name, { text: `${progress}${seconds}`, style: "dim" }]]);
  };
  const say = (text: string) => {
    progress = text;
    if (!screen.size) screen.print([{ text: "    " }, name, { text }]);
  };
  const wheel = setInterval(turn, FRAME_MS);
  try {
    const result = await work(say);
    screen.live([]);
    screen.print([{ text: "  ✓ ", style: "green" }, name, { text: outcome(result) }]);
    return result;
  } catch (error) {
    screen.live([]);
    screen.print([{ text: "  ✗ ", style: "red" }, name, { text: "did not finish" }]);
    throw error;
  } finally {
    clearInterval(wheel);
  }
}
