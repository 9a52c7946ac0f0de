import type { TraceEvent } from "../../pictures/browser.ts";

export interface Moved {
  framesPerSecond: number;
  /** Between two frames. */
  longestMs: number;
}

/** From the frames that were drawn between the marks. Throws where there are none. */
export function movedIn(events: readonly TraceEvent[]): Moved {
  const at = (mark: string) => events.find(({ name }) => name === mark)?.ts;
  const [from, to] = [at(BEGIN), at(END)];
  if (from === undefined || to === undefined) throw new Error("The trace has no marks");
  const drawn = events
    .filter(({ name, ts }) => name === "DrawFrame" && ts >= from && ts <= to)
    .map(({ ts }) => ts)
    .sort((one, other) => one - other);
  const gaps = [from, ...drawn].map((ts, index) => (drawn[index] ?? to) - ts);
  return { framesPerSecond: (drawn.length * 1e6) / (to - from), longestMs: Math.max(...gaps) / 1000 };
}

const [BEGIN, END] = ["movement begins", "movement ends"];

/** One step for each frame, as a hand moves a picture. The heading changes too, so that each frame has something to draw. */
const steps = (count: number, step: string): string => `new Promise((resolve) => {
  const canvas = document.querySelector(".canvas");
  const [larger, smaller] = [...document.querySelectorAll(".zoom button")].reverse().slice(1);
  let left = ${count};
  performance.mark("${BEGIN}");
  const next = () => {
    if (left-- === 0) {
      performance.mark("${END}");
      return resolve();
    }
    ${step}
    document.querySelector("h1").style.opacity = left % 2 === 0 ? 1 : 0.9;
    requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
})`;

export const MOVE = steps(180, "canvas.scrollBy(left % 60 < 30 ? 8 : -8, 40);");

/** A person presses a button some times a second at most. */
export const ZOOM = steps(180, "if (left % 15 === 0) (left % 30 === 0 ? larger : smaller).click();");
