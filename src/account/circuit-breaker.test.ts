import { beforeEach, describe, expect, it } from "vitest";
import { type Failure, GatewayError, NO_API_KEY } from "../gateway/errors.ts";
import { VirtualClock } from "../runtime/testing/virtual-clock.ts";
import { CircuitBreaker } from "./circuit-breaker.ts";

let clock: VirtualClock;
let breaker: CircuitBreaker;
let calls: string[];

beforeEach(() => {
  clock = new VirtualClock();
  calls = [];
  breaker = new CircuitBreaker({
    clock,
    onOpened: () => calls.push("opened"),
    onRecovered: () => calls.push("recovered"),
  });
});

const failure = (more: Pick<Failure, "kind"> & Partial<Failure>) =>
  new GatewayError({ method: "GET", route: "/ip_policies", problem: "what happened", ...more });

const outage = failure({ kind: "failed", status: 503 });
const unauthorized = failure({ kind: "refused", status: 401 });

const sends = (): boolean => {
  try {
    breaker.beginRequest();
    return true;
  } catch {
    return false;
  }
};

function fail(error: GatewayError, times: number): void {
  for (let count = 0; count < times; count += 1) breaker.failed(error);
}

describe("CircuitBreaker", () => {
  it("stays closed through a few failures", () => {
    fail(outage, 4);
    expect(sends()).toBe(true);
    expect(calls).toEqual([]);
  });

  it("opens after several failures in a row, and fails further requests with the same error", () => {
    fail(outage, 5);
    expect(() => breaker.beginRequest()).toThrow(outage);
    expect(breaker.problem).toBe(outage);
    expect(calls).toEqual(["opened"]);
  });

  it.each([
    ["an answer", () => breaker.succeeded()],
    ["a refusal of one request", () => breaker.failed(failure({ kind: "refused", status: 400 }))],
    ["a 429", () => breaker.failed(failure({ kind: "limited", status: 429 }))],
  ])("starts to count again after %s", (_, happens) => {
    fail(outage, 4);
    happens();
    fail(outage, 4);
    expect(sends()).toBe(true);
  });

  it.each([
    ["a key that is refused", unauthorized],
    ["no key", failure({ kind: "unsent", code: NO_API_KEY })],
  ])("opens at once for %s", (_, error) => {
    breaker.failed(error);
    expect(sends()).toBe(false);
  });

  it("lets a probe through after pauses that grow", async () => {
    fail(unauthorized, 1);
    const probes: number[] = [];
    for (let second = 1; second <= 300; second += 1) {
      await clock.advance(1000);
      if (!sends()) continue;
      probes.push(second);
      breaker.failed(unauthorized);
    }
    expect(probes.slice(0, 5)).toEqual([2, 6, 14, 30, 62]);
    expect(probes.slice(5)).toEqual([122, 182, 242]);
  });

  it("does not delay the probe when requests fail that were under way as it opened", async () => {
    fail(outage, 40);
    await clock.advance(2000);
    expect(sends()).toBe(true);
    breaker.failed(outage);
    await clock.advance(4000);
    expect(sends()).toBe(true);
  });

  it("waits as long as Retry-After says, but 10 minutes at the most", async () => {
    fail(failure({ kind: "failed", status: 503, retryAfterSeconds: 90 }), 5);
    await clock.advance(89_999);
    expect(sends()).toBe(false);
    await clock.advance(1);
    expect(sends()).toBe(true);
    breaker.failed(failure({ kind: "failed", status: 503, retryAfterSeconds: 86_400 }));
    await clock.advance(600_000);
    expect(sends()).toBe(true);
  });

  it("can be checked without sending a request", async () => {
    fail(unauthorized, 1);
    expect(() => breaker.check()).toThrow(unauthorized);
    await clock.advance(2000);
    breaker.check();
    breaker.check();
    expect(sends()).toBe(true);
    expect(() => breaker.check()).toThrow(unauthorized);
  });

  it("lets no second probe through while one is under way", async () => {
    fail(unauthorized, 1);
    await clock.advance(2000);
    expect(sends()).toBe(true);
    expect(sends()).toBe(false);
  });

  it("closes as soon as a probe is answered", async () => {
    fail(outage, 5);
    await clock.advance(2000);
    breaker.beginRequest();
    breaker.succeeded();
    expect(sends()).toBe(true);
    expect(sends()).toBe(true);
    expect(calls).toEqual(["opened", "recovered"]);
  });

  it("sends a probe at once when told that the account has changed", () => {
    fail(unauthorized, 1);
    breaker.probeSoon();
    expect(sends()).toBe(true);
    expect(sends()).toBe(false);
    breaker.failed(unauthorized);
    expect(calls).toEqual(["opened"]);
  });
});
