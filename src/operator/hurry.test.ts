import { expect, it } from "vitest";
import { Hurry } from "./hurry.ts";

it("is great at first, less with each look that was no better, and never over by itself", () => {
  const hurry = new Hurry();
  const seconds = Array.from({ length: 2000 }, () => hurry.again("n/a"));
  expect(seconds.slice(0, 3)).toEqual([0.2, 0.4, 0.8]);
  expect(seconds).toEqual(seconds.toSorted((a, b) => a - b));
  expect(seconds.at(-1)).toBe(5);
});

it("is each object's own, and forgotten when it ends", () => {
  const hurry = new Hurry();
  hurry.again("n/a");
  hurry.again("n/a");
  expect(hurry.again("n/b")).toBe(0.2);
  hurry.end("n/a");
  hurry.end("n/b");
  expect(hurry.size).toBe(0);
  expect(hurry.again("n/a")).toBe(0.2);
});
