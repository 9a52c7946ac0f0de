import { expect, test } from "vitest";
import { shownOn, type Wait, WaitTimeout } from "./wait.ts";

const twice: Wait = async (_, condition) => {
  await condition();
  await condition();
};

test("a terminal shows what is waited for, and erases it when the wait ends", async () => {
  const shown: string[] = [];
  await shownOn({ progress: (text) => void shown.push(text) }, twice)("db to be Ready", async () => true);
  expect(shown).toEqual([
    expect.stringMatching(/^Waiting for db to be Ready: \d+ s$/),
    expect.stringContaining("db"),
    "",
  ]);
});

test("the line is also erased when the wait times out", async () => {
  const shown: string[] = [];
  const late: Wait = () => Promise.reject(new WaitTimeout("late"));
  const wait = shownOn({ progress: (text) => void shown.push(text) }, late);
  await expect(wait("db", async () => false)).rejects.toThrow(WaitTimeout);
  expect(shown).toEqual([""]);
});
