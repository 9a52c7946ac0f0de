import { expect, test } from "vitest";
import { endsPlot, plotOf } from "./plot.ts";

const now = Date.parse("2026-01-10T12:00:00Z");
const at = (secondsAgo: number) => new Date(now - secondsAgo * 1000).toISOString();
const samples = [
  { at: now - 120_000, requests: 4 },
  { at: now - 60_000, requests: 12 },
  { at: now, requests: 8 },
];

test("what happened has a mark at its time on the line of requests", () => {
  const marks = [
    { at: at(60), title: "TCPEdge/db: created" },
    { at: at(600), title: "TCPEdge/db: before all that is drawn" },
  ];
  const { text } = plotOf(samples, { now, limit: 100, marks });
  expect(text.match(/class="mark"/g)).toHaveLength(1);
  expect(text).toMatch(/class="mark" x1="150.0" x2="150.0" [^>]*><title>TCPEdge\/db: created</);
  expect(text).toContain("Requests within a minute, over the last 2 minutes: now 8, most 12");
});

test("nothing is drawn of one sample", () => {
  expect(plotOf(samples.slice(0, 1), { now, limit: 100, marks: [{ at: at(1), title: "x" }] }).text).not.toContain(
    "<svg",
  );
});

test("of more ends than a picture can show, the first are drawn, and the others counted", () => {
  const ends = Array.from({ length: 57 }, (_, index) => ({
    title: `shop/${index}`,
    until: new Date(now + (index + 1) * 86_400_000).toISOString(),
  }));
  const { text } = endsPlot(ends, now);
  expect(text.match(/<circle/g)).toHaveLength(40);
  expect(text).toContain("And 17 more within 90 days");
  expect(endsPlot(ends.slice(0, 40), now).text).not.toContain("more within");
});
