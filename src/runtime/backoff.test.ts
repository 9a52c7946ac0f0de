import { beforeEach, describe, expect, it } from "vitest";
import { VirtualClock } from "../../test/fakes/runtime/virtual-clock.ts";
import { Backoff, delayAfter } from "./backoff.ts";

const certain = { base: 2, cap: 10, jitter: 0 };
let clock: VirtualClock;

beforeEach(() => {
  clock = new VirtualClock();
});

describe("a delay", () => {
  it("doubles with each failure, up to the longest", () => {
    expect([0, 1, 2, 3, 2000].map((failures) => delayAfter(certain, failures, Math.random))).toEqual([2, 4, 8, 10, 10]);
  });

  it.each([
    [undefined, [0, 4]],
    [1, [0, 4]],
    [0.5, [2, 4]],
  ])("is random by its share of jitter: %s", (jitter, delays) => {
    const options = { base: 2, cap: 10, ...(jitter !== undefined && { jitter }) };
    expect([0, 1].map((chance) => delayAfter(options, 1, () => chance))).toEqual(delays);
  });
});

describe("a backoff", () => {
  it("says when the next attempt is due, with what the server asked for", async () => {
    const backoff = new Backoff(certain, clock);
    expect(backoff.isDue).toBe(true);
    expect([backoff.next(), backoff.next(3), backoff.secondsLeft]).toEqual([2000, 7000, 7]);
    await clock.advance(6999);
    expect(backoff.isDue).toBe(false);
    await clock.advance(1);
    expect(backoff.isDue).toBe(true);
  });

  it("starts anew after a reset, or after a while without a failure", async () => {
    const backoff = new Backoff({ ...certain, resetAfter: 60 }, clock);
    expect([backoff.next(), backoff.next()]).toEqual([2000, 4000]);
    backoff.reset();
    expect([backoff.isDue, backoff.next()]).toEqual([true, 2000]);
    await clock.advance(62_000);
    expect(backoff.next()).toBe(4000);
    await clock.advance(64_001);
    expect(backoff.next()).toBe(2000);
  });

  it("holds the next attempt as long as the last one, or for a time, and never less than before", () => {
    const backoff = new Backoff(certain, clock);
    backoff.hold();
    expect(backoff.secondsLeft).toBe(2);
    backoff.next();
    backoff.release();
    backoff.hold();
    expect(backoff.secondsLeft).toBe(4);
    backoff.hold(3);
    expect(backoff.secondsLeft).toBe(4);
    backoff.hold(9);
    expect([backoff.secondsLeft, backoff.next()]).toEqual([9, 8000]);
  });

  it("that was released continues with longer delays", () => {
    const backoff = new Backoff(certain, clock);
    backoff.next();
    backoff.release();
    expect([backoff.isDue, backoff.next()]).toEqual([true, 4000]);
  });

  it("takes the delays of a failure that has others", () => {
    const backoff = new Backoff(certain, clock);
    backoff.next();
    expect(backoff.next(0, { base: 100, cap: 1000, jitter: 0 })).toBe(200_000);
  });
});
