import { expect, it } from "vitest";
import { corrections } from "./drift.ts";

const patch = (id: string, time: number, status: number | null = 200) => ({
  path: `/reserved_domains/${id}`,
  time,
  status,
});

it.each([
  { why: "before the change", patches: [patch("rd_1", 99)], sent: undefined, right: undefined },
  { why: "in the same millisecond", patches: [patch("rd_1", 100)], sent: 100, right: 100 },
  { why: "of another remote", patches: [patch("rd_11", 200), patch("1", 200)], sent: undefined, right: undefined },
  { why: "that was refused", patches: [patch("rd_1", 200, 429)], sent: 200, right: undefined },
  { why: "without an answer yet", patches: [patch("rd_1", 200, null)], sent: 200, right: undefined },
  {
    why: "that came again",
    patches: [patch("rd_1", 200, 429), patch("rd_1", 300), patch("rd_1", 400)],
    sent: 200,
    right: 300,
  },
])("a PATCH $why", ({ patches, sent, right }) => {
  expect(corrections(new Map([["rd_1", 100.5]]), patches)).toEqual([{ changed: 100.5, sent, right }]);
});
