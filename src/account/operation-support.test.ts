import { beforeEach, expect, it } from "vitest";
import { VirtualClock } from "../../test/fakes/runtime/virtual-clock.ts";
import { OperationSupport } from "./operation-support.ts";

const operation = "reserved_domains:update";
let clock: VirtualClock;
let support: OperationSupport;

beforeEach(() => {
  clock = new VirtualClock();
  support = new OperationSupport(clock);
});

const minutes = (count: number): Promise<void> => clock.advance(count * 60_000);

/** Refused at the start and as often as it may be tried, for so many minutes. */
async function refuseFor(duration: number, write?: number): Promise<void> {
  for (let minute = 0; minute <= duration; minute += 1) {
    if (support.mayTry(operation)) support.refused(operation);
    if (minute === write) support.written();
    await minutes(1);
  }
}

it("supports an operation that was never refused", () => {
  expect([support.of(operation), support.mayTry(operation)]).toEqual(["supported", true]);
});

it("takes one refusal for a hint, and waits two minutes before the next attempt", async () => {
  support.refused(operation);
  expect([support.of(operation), support.secondsUntilTry(operation)]).toEqual(["refused", 120]);
  await minutes(2);
  expect([support.of(operation), support.mayTry(operation)]).toEqual(["refused", true]);
});

it("allows one attempt at a time, and doubles the delay after each refusal, up to an hour", async () => {
  support.refused(operation);
  for (const wait of [4, 8, 16, 32, 60, 60]) {
    await minutes(61);
    support.recordAttempt(operation);
    expect(support.mayTry(operation)).toBe(false);
    support.refused(operation);
    expect(support.secondsUntilTry(operation)).toBe(wait * 60);
  }
});

it("never calls an operation unsupported while no other write succeeds", async () => {
  await refuseFor(600);
  expect(support.of(operation)).toBe("refused");
});

it.each([
  ["before the first refusal", () => support.written(), 20, undefined, "refused"],
  ["between refusals ten minutes apart", () => {}, 20, 5, "unsupported"],
  ["between refusals that are closer together", () => {}, 7, 1, "refused"],
  ["after the last refusal", () => {}, 20, 20, "refused"],
] as const)("after refusals, takes into account a write %s", async (_, before, duration, write, expected) => {
  before();
  await minutes(1);
  await refuseFor(duration, write);
  expect(support.of(operation)).toBe(expected);
});

it("stays unsupported, whatever is written after that", async () => {
  await refuseFor(20, 5);
  for (let hour = 0; hour < 3; hour += 1) {
    support.written();
    await minutes(60);
    expect(support.of(operation)).toBe("unsupported");
  }
});

it("forgets all refusals when the operation succeeds", async () => {
  await refuseFor(20, 5);
  support.accepted(operation);
  expect([support.of(operation), support.mayTry(operation)]).toEqual(["supported", true]);
});

it("does not count a write that may have succeeded before the first refusal", async () => {
  support.refused(operation);
  support.written();
  await minutes(20);
  support.refused(operation);
  expect(support.of(operation)).toBe("refused");
});

it("does not count a write that may have succeeded after the last refusal", async () => {
  support.refused(operation);
  await minutes(20);
  support.written();
  support.refused(operation);
  expect(support.of(operation)).toBe("refused");
});

it.each([
  ["refused", 10 * 60_000 - 1],
  ["unsupported", 10 * 60_000],
] as const)(
  "counts an operation as %s after two refusals with %d ms and a write in between",
  async (expected, apart) => {
    support.refused(operation);
    await clock.advance(1);
    support.written();
    await clock.advance(apart - 1);
    support.refused(operation);
    expect(support.of(operation)).toBe(expected);
  },
);

it("allows the next attempt a minute after one that got no answer, and each operation by itself", async () => {
  support.refused(operation);
  await minutes(2);
  support.recordAttempt(operation);
  support.recordAttempt("tls_edges:delete");
  expect([support.secondsUntilTry(operation), support.mayTry("tls_edges:delete")]).toEqual([60, true]);
  await minutes(1);
  expect(support.mayTry(operation)).toBe(true);
});
