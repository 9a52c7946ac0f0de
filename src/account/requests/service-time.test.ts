import { beforeEach, describe, expect, test } from "vitest";
import { VirtualClock } from "../../../test/fakes/runtime/virtual-clock.ts";
import { ServiceTime } from "./service-time.ts";

const MINUTE_MS = 60_000;

let clock: VirtualClock;
let time: ServiceTime;

beforeEach(() => {
  clock = new VirtualClock();
  time = new ServiceTime(clock);
});

/** How far the time of the service is ahead of the calendar, in whole minutes. */
const ahead = () => Math.round((time.epochMs - clock.date().getTime()) / MINUTE_MS);

const answer = (minutesAhead: number) =>
  time.observe(new Date(clock.date().getTime() + minutesAhead * MINUTE_MS).toUTCString());

describe("the time of the service", () => {
  test.each([10, -10])("is %d minutes ahead of the calendar, and goes on without answers", async (minutes) => {
    answer(minutes);
    expect(ahead()).toBe(minutes);
    await clock.advance(60 * MINUTE_MS);
    expect(ahead()).toBe(minutes);
  });

  test("is the clock of the process until the service has answered with a date", () => {
    expect(ahead()).toBe(0);
    time.observe(undefined);
    time.observe("soon");
    for (const year of ["+012026", "+275760", "-000001"]) time.observe(`${year}-01-01T00:00:00Z`);
    expect(ahead()).toBe(0);
  });

  test("is not changed by one wrong answer", () => {
    for (const minutes of [0, 500, 0]) answer(minutes);
    expect(ahead()).toBe(0);
    answer(-500);
    expect(ahead()).toBe(0);
  });

  test("is not held back by a proxy that repeats old answers", async () => {
    answer(10);
    answer(10);
    const cached = new Date(clock.date().getTime() + 10 * MINUTE_MS).toUTCString();
    for (let count = 0; count < 7; count += 1) {
      await clock.advance(5 * MINUTE_MS);
      time.observe(cached);
    }
    expect(ahead()).toBe(10);
  });

  test("follows a service whose clock is set", () => {
    for (let count = 0; count < 9; count += 1) answer(10);
    for (let count = 0; count < 7; count += 1) answer(-3);
    expect(ahead()).toBe(10);
    answer(-3);
    expect(ahead()).toBe(-3);
  });
});
