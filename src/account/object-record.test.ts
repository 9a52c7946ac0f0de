import { beforeEach, describe, expect, it } from "vitest";
import { recordsOf } from "../../test/fakes/account/records.ts";
import { VirtualClock } from "../../test/fakes/runtime/virtual-clock.ts";
import { GatewayError } from "../gateway/errors.ts";
import { Retry } from "../objects/reconcile-error.ts";
import { Failures } from "./failures.ts";
import type { ObjectRecord } from "./object-record.ts";
import { RequestBudget } from "./requests/request-budget.ts";
import { Turn } from "./requests/turn.ts";
import { Turns } from "./requests/turns.ts";

let clock: VirtualClock;
let record: ObjectRecord;
let former: Failures;
let next: Failures;

beforeEach(() => {
  clock = new VirtualClock();
  record = recordsOf(clock)("a");
  [former, next] = [new Failures(clock), new Failures(clock)];
});

const cause = new GatewayError({
  kind: "failed",
  method: "PATCH",
  route: "/ip_policies/{id}",
  status: 500,
  problem: "no",
});
const failure = { error: new Retry("ServiceUnavailable", "no"), cause, asked: "1", inputs: "1", isTransient: true };

describe("the failure of an object", () => {
  it("is forgotten when the object is tried in another account, and not when it is tried there again", () => {
    former.failed(record, failure);
    former.begin(record);
    expect(former.of(record)).toBeDefined();
    next.begin(record);
    expect([former.of(record), next.of(record)]).toEqual([undefined, undefined]);
  });

  it("is that of the account in which it failed last", () => {
    former.failed(record, failure);
    next.failed(record, failure);
    expect([former.of(record), next.of(record)]).toEqual([undefined, expect.anything()]);
    expect([former.secondsLeft(record), next.secondsLeft(record) > 0]).toEqual([0, true]);
  });

  it("ends with the object's work, and what a reconcile notes later counts for nobody", () => {
    next.failed(record, failure);
    record.end();
    expect(next.of(record)).toBeUndefined();
    next.failed(record, failure);
    expect(next.of(record)).toBeUndefined();
  });
});

it("the place of an object in the line ends with its work, and the next request has it", async () => {
  const turns = new Turns(new RequestBudget({ perMinute: 60, clock }), clock);
  while (turns.budget.tryAcquire("edit"));
  const { signal } = new AbortController();
  const asked = turns.acquire({ lane: "edit", signal, turn: new Turn(record, clock) });
  const left = expect(asked).rejects.toThrow("does not wait any longer");
  expect(record.place).toBeDefined();
  record.end();
  await left;
  expect(record.place).toBeUndefined();
  await clock.advance(1000);
  expect(turns.budget.tryAcquire("edit")).toBe(true);
});

describe("a replaced remote that cannot be deleted yet", () => {
  const defer = (id: string): number => {
    record.deferDelete(id, { base: 10, cap: 35, jitter: 0 });
    return record.secondsUntilDelete(id);
  };

  it("waits longer each time in a row, and each remote by itself", async () => {
    expect(record.secondsUntilDelete("a")).toBe(0);
    expect([defer("a"), defer("a"), defer("a"), defer("b")]).toEqual([10, 20, 35, 10]);
    await clock.advance(34_000);
    expect(record.secondsUntilDelete("a")).toBe(1);
    await clock.advance(2_000);
    expect(record.secondsUntilDelete("a")).toBe(0);
  });

  it("is forgotten when it is gone, with the deletion that got no answer", () => {
    defer("a");
    record.uncertainDeletes.add("a");
    record.forgetRemote("a");
    expect([record.secondsUntilDelete("a"), record.uncertainDeletes.size, defer("a")]).toEqual([0, 0, 10]);
  });
});
