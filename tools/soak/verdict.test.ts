import { describe, expect, it } from "vitest";
import type { Sample } from "./sample.ts";
import { medianOfQuarter, type Rest, verdicts } from "./verdict.ts";

const atRest: Rest = { seconds: 60, writes: 0, others: 0, differing: 0 };

/** A sample for each second. */
const samples = (seconds: number, of: (at: number) => Partial<Sample> = () => ({})): Sample[] =>
  Array.from({ length: seconds + 1 }, (_, at) => ({
    at,
    rss: 100,
    heap: 40,
    reserved: 60,
    external: 5,
    sockets: 30,
    timers: 50,
    resources: 90,
    ...of(at),
  }));

const missed = (all: readonly Sample[], rest = atRest): string[] =>
  verdicts(all, rest)
    .filter(({ kept }) => !kept)
    .map(({ text }) => text);

it("takes the median of a quarter of the time", () => {
  const all = samples(100, (at) => ({ rss: at === 30 ? 10_000 : at }));
  expect(medianOfQuarter(all, 2, "rss")).toBe(39);
  expect(medianOfQuarter(all, 4, "rss")).toBe(88);
});

describe("the verdict", () => {
  it("is kept by what stays as it is, and by what has grown only while it warmed up", () => {
    expect(missed(samples(100))).toEqual([]);
    expect(missed(samples(100, (at) => ({ rss: Math.min(60 + at * 4, 160) })))).toEqual([]);
  });

  it.each<[keyof Sample, (at: number) => Partial<Sample>]>([
    ["rss", (at) => ({ rss: 100 + at / 2 })],
    ["sockets", (at) => ({ sockets: 30 + at })],
    ["timers", (at) => ({ timers: 50 + at })],
    ["resources", (at) => ({ resources: 90 + at })],
  ])("is missed by %s that grow all the time", (quantity, of) => {
    expect(missed(samples(100, of))).toEqual([`${quantity}, median of the last quarter`]);
  });

  it("does not judge what the machine does not tell", () => {
    expect(missed(samples(100, () => ({ rss: undefined, sockets: undefined })))).toEqual([]);
  });

  it.each([
    [{ writes: 1 }, "Kubernetes writes at rest"],
    [{ others: 1 }, "requests at rest that are no page of a list"],
    [{ differing: 1 }, "objects and remotes that are not as they should be"],
  ])("is missed by %o", (seen, text) => {
    expect(missed(samples(100), { ...atRest, ...seen })).toEqual([text]);
  });
});
