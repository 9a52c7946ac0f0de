import { beforeEach, describe, expect, it } from "vitest";
import { VirtualClock } from "../../test/fakes/runtime/virtual-clock.ts";
import type { Intent } from "../objects/intent.ts";
import type { ManagedObject } from "../objects/object.ts";
import { CreateSettlement } from "./create-settlement.ts";

const DEADLINE_MS = 30_000;
const YEAR_MS = 365 * 24 * 3_600_000;

const object = { metadata: { uid: "uid" } } as ManagedObject;

let clock: VirtualClock;
let settlement: CreateSettlement;

beforeEach(() => {
  clock = new VirtualClock();
  settlement = new CreateSettlement(clock, DEADLINE_MS);
});

const intentAt = (last: number): Intent => ({ signed: true, first: last, last });
const now = () => clock.date().getTime();

describe("a create of this process", () => {
  it("is settled 47 seconds after its intent was read, whatever the clocks of others show", async () => {
    settlement.recordIntent(object, intentAt(now()), clock.now() - 5_000);
    const intent = intentAt(now());
    for (const serviceTime of [now() - YEAR_MS, now() + YEAR_MS])
      expect(settlement.remainingMs(object, intent, serviceTime)).toBe(42_000);
    await clock.advance(50_000);
    expect(settlement.remainingMs(object, intent, now())).toBe(-8_000);
  });

  it("is not that of another object", () => {
    settlement.recordIntent(object, intentAt(now()), clock.now());
    const other = { metadata: { uid: "other" } } as ManagedObject;
    expect(settlement.remainingMs(other, intentAt(now()), now() + 40_000)).toBe(7_000);
  });
});

describe("a create of an earlier process", () => {
  it("is settled by the time of the service, which is read once", async () => {
    const intent = intentAt(now());
    expect(settlement.remainingMs(object, intent, now() + 20_000)).toBe(27_000);
    await clock.advance(7_000);
    for (const serviceTime of [now() - YEAR_MS, now() + YEAR_MS])
      expect(settlement.remainingMs(object, intent, serviceTime)).toBe(20_000);
  });

  it("was settled long ago if it is old, and never takes longer than a create that begins now", () => {
    expect(settlement.remainingMs(object, intentAt(now()), now() + YEAR_MS)).toBeLessThan(-YEAR_MS / 2);
    settlement.forget("uid");
    expect(settlement.remainingMs(object, intentAt(now()), now() - YEAR_MS)).toBe(47_000);
  });
});

describe("an intent that somebody has edited", () => {
  beforeEach(() => settlement.recordIntent(object, intentAt(now()), clock.now()));

  it("cannot shorten the wait for a create that this process has begun", () => {
    expect(settlement.remainingMs(object, intentAt(now() - YEAR_MS), now())).toBe(47_000);
  });

  it("can delay it, by no more than a create takes to settle", async () => {
    await clock.advance(40_000);
    expect(settlement.remainingMs(object, intentAt(now() + YEAR_MS), now())).toBe(47_000);
  });
});
