import { beforeEach, describe, expect, it } from "vitest";
import { GatewayError } from "../../gateway/errors.ts";
import { settle, VirtualClock } from "../../runtime/testing/virtual-clock.ts";
import { callsOptions } from "../testing/calls.ts";
import { Calls } from "./calls.ts";
import { CircuitBreaker } from "./circuit-breaker.ts";
import { RequestBudget } from "./request-budget.ts";
import { Turns } from "./turns.ts";

const request = { lane: "edit" as const, signal: new AbortController().signal };
const refused = new GatewayError({ kind: "refused", status: 401, method: "GET", route: "/", problem: "no" });

describe("a request that waits for the budget while the breaker begins a probe", () => {
  let clock: VirtualClock;
  let budget: RequestBudget;
  let calls: Calls;
  let sent: number;
  let probe: PromiseWithResolvers<void>;
  let outcome: Promise<unknown>;

  /** One request a second, and no token left. */
  beforeEach(async () => {
    clock = new VirtualClock();
    budget = new RequestBudget({ perMinute: 60, clock });
    probe = Promise.withResolvers();
    const breaker = new CircuitBreaker({ clock, probe: () => probe.promise });
    calls = new Calls({ ...callsOptions(clock), turns: new Turns(budget, clock), breaker });
    sent = 0;
    while (budget.tryAcquire("edit"));
    const call = async () => {
      sent += 1;
    };
    outcome = calls.read(call, request).catch((error: unknown) => error);
    await settle();
    breaker.failed(refused);
    await clock.advance(5000);
  });

  it("is sent only when the answer says that the service takes requests", async () => {
    expect(sent).toBe(0);
    probe.resolve();
    await outcome;
    expect(sent).toBe(1);
  });

  it("is not sent when the probe fails as well, and has its error", async () => {
    probe.reject(refused);
    expect(await outcome).toBe(refused);
    expect(sent).toBe(0);
  });

  it("leaves its turn to the probe", async () => {
    await calls.read(async () => {}, { ...request, isProbe: true });
    expect(sent).toBe(0);
  });
});

it("tells of each change that the service has carried out, and of no other", async () => {
  const clock = new VirtualClock();
  let written = 0;
  const calls = new Calls({
    ...callsOptions(clock),
    onWritten: () => {
      written += 1;
    },
  });
  await calls.read(async () => {}, request);
  const invalid = new GatewayError({ kind: "refused", status: 422, method: "PATCH", route: "/", problem: "no" });
  await expect(calls.change(() => Promise.reject(invalid), request)).rejects.toBe(invalid);
  expect(written).toBe(0);
  await calls.change(async () => {}, request);
  expect(written).toBe(1);
});
