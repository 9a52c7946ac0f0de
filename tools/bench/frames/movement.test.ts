import { expect, test } from "vitest";
import { movedIn } from "./movement.ts";

const event = (name: string, ms: number) => ({ name, ts: ms * 1000 });

test("frames count between the marks, and the longest gap reaches to the marks", () => {
  const marks = [event("movement begins", 100), event("movement ends", 200)];
  const frames = [50, 110, 120, 130, 250].map((ms) => event("DrawFrame", ms));
  expect(movedIn([...frames, ...marks, event("BeginFrame", 140)])).toEqual({ framesPerSecond: 30, longestMs: 70 });
  expect(movedIn(marks)).toEqual({ framesPerSecond: 0, longestMs: 100 });
  expect(() => movedIn(frames)).toThrow("no marks");
});
