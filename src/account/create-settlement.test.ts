import { beforeEach, describe, expect, it } from "vitest";
import type { Intent } from "../objects/intent.ts";
import type { ManagedObject } from "../objects/object.ts";
import { VirtualClock } from "../runtime/testing/virtual-clock.ts";
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
