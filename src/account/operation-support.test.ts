import { beforeEach, expect, it } from "vitest";
import { VirtualClock } from "../../test/fakes/runtime/virtual-clock.ts";
import { OperationSupport, type Operations } from "./operation-support.ts";

const domains: Operations = { name: "reserved_domains", verbs: { update: "documented" } };
const edges: Operations = { name: "tls_edges", verbs: { delete: "documented" } };
let clock: VirtualClock;
let support: OperationSupport;

beforeEach(() => {
  clock = new VirtualClock();
  support = new OperationSupport(clock, true);
});

const minutes = (count: number): Promise<void> => clock.advance(count * 60_000);

/** Refused at the start and as often as it may be tried, for so many minutes. */
async function refuseFor(duration: number, write?: number): Promise<void> {
  for (let minute = 0; minute <= duration; minute += 1) {
    if (support.mayTry(domains, "update")) support.refused(domains, "update");
    if (minute === write) support.written();
    await minutes(1);
  }
}

it("supports an operation that was never refused", () => {
  expect([support.of(domains, "update"), support.mayTry(domains, "update")]).toEqual(["supported", true]);
});

it("takes one refusal for a hint, and waits two minutes before the next attempt", async () => {
  support.refused(domains, "update");
  expect([support.of(domains, "update"), support.secondsUntilTry(domains, "update")]).toEqual(["refused", 120]);
  await minutes(2);
  expect([support.of(domains, "update"), support.mayTry(domains, "update")]).toEqual(["refused", true]);
});

it("allows one attempt at a time, and doubles the delay after each refusal, up to an hour", async () => {
  support.refused(domains, "update");
  for (const wait of [4, 8, 16, 32, 60, 60]) {
    await minutes(61);
    support.tried(domains, "update");
    expect(support.mayTry(domains, "update")).toBe(false);
    support.refused(domains, "update");
    expect(support.secondsUntilTry(domains, "update")).toBe(wait * 60);
  }
});

it("never calls an operation unsupported while no other write succeeds", async () => {
  await refuseFor(600);
  expect(support.of(domains, "update")).toBe("refused");
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
  expect(support.of(domains, "update")).toBe(expected);
});

it("stays unsupported, whatever is written after that", async () => {
  await refuseFor(20, 5);
  for (let hour = 0; hour < 3; hour += 1) {
    support.written();
    await minutes(60);
    expect(support.of(domains, "update")).toBe("unsupported");
  }
});

it("forgets all refusals when the operation succeeds", async () => {
  await refuseFor(20, 5);
  support.accepted(domains, "update");
  expect([support.of(domains, "update"), support.mayTry(domains, "update")]).toEqual(["supported", true]);
});

it("does not count a write that may have succeeded before the first refusal", async () => {
  support.refused(domains, "update");
  support.written();
  await minutes(20);
  support.refused(domains, "update");
  expect(support.of(domains, "update")).toBe("refused");
});

it("does not count a write that may have succeeded after the last refusal", async () => {
  support.refused(domains, "update");
  await minutes(20);
  support.written();
  support.refused(domains, "update");
  expect(support.of(domains, "update")).toBe("refused");
});

it.each([
  ["refused", 10 * 60_000 - 1],
  ["unsupported", 10 * 60_000],
] as const)(
  "counts an operation as %s after two refusals with %d ms and a write in between",
  async (expected, apart) => {
    support.refused(domains, "update");
    await clock.advance(1);
    support.written();
    await clock.advance(apart - 1);
    support.refused(domains, "update");
    expect(support.of(domains, "update")).toBe(expected);
  },
);

it("allows the next attempt a minute after one that got no answer, and each operation by itself", async () => {
  support.refused(domains, "update");
  await minutes(2);
  support.tried(domains, "update");
  support.tried(edges, "delete");
  expect([support.secondsUntilTry(domains, "update"), support.mayTry(edges, "delete")]).toEqual([60, true]);
  await minutes(1);
  expect(support.mayTry(domains, "update")).toBe(true);
});
