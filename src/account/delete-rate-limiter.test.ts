import { beforeEach, describe, expect, it } from "vitest";
import { VirtualClock } from "../runtime/testing/virtual-clock.ts";
import { DeleteRateLimiter } from "./delete-rate-limiter.ts";

let clock: VirtualClock;

beforeEach(() => {
  clock = new VirtualClock();
});

const ids = (count: number) => Array.from({ length: count }, (_, index) => `id-${index}`);

describe("six deletes a minute", () => {
  it("may be sent at once, and each further one has to wait longer", () => {
    const limiter = new DeleteRateLimiter(clock, 6);
    expect(ids(9).map((id) => limiter.secondsUntilTurn(id))).toEqual([0, 0, 0, 0, 0, 0, 10, 20, 30]);
  });

  it("keep their turns when they are asked for again", async () => {
    const limiter = new DeleteRateLimiter(clock, 6);
    for (const id of ids(8)) limiter.secondsUntilTurn(id);
    await clock.advance(5000);
    expect(limiter.secondsUntilTurn("id-6")).toBe(5);
    expect(limiter.secondsUntilTurn("another")).toBe(25);
    await clock.advance(5000);
    expect(limiter.secondsUntilTurn("id-6")).toBe(0);
    expect(limiter.secondsUntilTurn("id-7")).toBe(10);
  });

  it("are the limit of every minute after the first one, whose burst adds another six", async () => {
    const limiter = new DeleteRateLimiter(clock, 6);
    const gone: number[] = [];
    let waiting = ids(40);
    for (let second = 0; second < 600; second += 1) {
      waiting = waiting.filter((id) => {
        if (limiter.secondsUntilTurn(id) > 0) return true;
        gone.push(second);
        return false;
      });
      await clock.advance(1000);
    }
    expect(waiting).toEqual([]);
    // the burst of six, and one every ten seconds
    expect(gone.filter((second) => second < 60)).toHaveLength(11);
    expect(gone.filter((second) => second >= 60 && second < 120)).toHaveLength(6);
    expect(
      ids(9)
        .map((id) => limiter.secondsUntilTurn(`later-${id}`))
        .slice(0, 7),
    ).toEqual([0, 0, 0, 0, 0, 0, 10]);
  });
});

it("makes no delete wait without a limit", () => {
  const limiter = new DeleteRateLimiter(clock, 0);
  expect(ids(100).filter((id) => limiter.secondsUntilTurn(id) > 0)).toEqual([]);
});

describe("a remote whose delete was not answered", () => {
  it("may be deleted, until it is known to be gone", () => {
    const limiter = new DeleteRateLimiter(clock, 0);
    expect(limiter.mayBeDeleted("id")).toBe(false);
    limiter.recordUncertain("id");
    expect(limiter.mayBeDeleted("id")).toBe(true);
    limiter.forget("id");
    expect(limiter.mayBeDeleted("id")).toBe(false);
  });
});
