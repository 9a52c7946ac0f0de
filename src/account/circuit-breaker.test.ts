import { beforeEach, describe, expect, it } from "vitest";
import { type Failure, GatewayError, NO_API_KEY } from "../gateway/errors.ts";
import { VirtualClock } from "../runtime/testing/virtual-clock.ts";
import { CircuitBreaker } from "./circuit-breaker.ts";

let clock: VirtualClock;
let breaker: CircuitBreaker;
let told: string[];

beforeEach(() => {
  clock = new VirtualClock();
  told = [];
  breaker = new CircuitBreaker({ clock, onOpen: () => told.push("open"), onClose: () => told.push("close") });
});

const failure = (more: Pick<Failure, "kind"> & Partial<Failure>) =>
  new GatewayError({ method: "GET", route: "/ip_policies", problem: "what happened", ...more });

const outage = failure({ kind: "failed", status: 503 });
const unauthorized = failure({ kind: "refused", status: 401 });

const isOpen = (): boolean => {
  try {
    breaker.enter();
    return true;
  } catch {
    return false;
  }
};

function fail(error: GatewayError, times: number): void {
  for (let count = 0; count < times; count += 1) breaker.failed(error);
}

describe("Gate", () => {
  it("stays open through a few failures", () => {
    fail(outage, 4);
    expect(isOpen()).toBe(true);
    expect(told).toEqual([]);
  });

  it("closes after several in a row, and fails the others with the same words", () => {
    fail(outage, 5);
    expect(() => breaker.enter()).toThrow(outage);
    expect(breaker.problem).toBe(outage);
    expect(told).toEqual(["close"]);
  });

  it.each([
    ["an answer", () => breaker.passed()],
    ["a refusal of one request", () => breaker.failed(failure({ kind: "refused", status: 400 }))],
    ["a request for patience", () => breaker.failed(failure({ kind: "limited", status: 429 }))],
  ])("begins to count anew after %s", (_, happens) => {
    fail(outage, 4);
    happens();
    fail(outage, 4);
    expect(isOpen()).toBe(true);
  });

  it.each([
    ["a key that is refused", unauthorized],
    ["no key", failure({ kind: "unsent", code: NO_API_KEY })],
  ])("closes at once for %s", (_, error) => {
    breaker.failed(error);
    expect(isOpen()).toBe(false);
  });

  it("lets one request through now and then, more and more rarely", async () => {
    fail(unauthorized, 1);
    const probes: number[] = [];
    for (let second = 1; second <= 300; second += 1) {
      await clock.advance(1000);
      if (!isOpen()) continue;
      probes.push(second);
      breaker.failed(unauthorized);
    }
    expect(probes.slice(0, 5)).toEqual([2, 6, 14, 30, 62]);
    expect(probes.slice(5)).toEqual([122, 182, 242]);
  });

  it("waits no longer for requests that were under way when it closed, and fail as well", async () => {
    fail(outage, 40);
    await clock.advance(2000);
    expect(isOpen()).toBe(true);
    breaker.failed(outage);
    await clock.advance(4000);
    expect(isOpen()).toBe(true);
  });

  it("waits for as long as the service asks, within reason", async () => {
    fail(failure({ kind: "failed", status: 503, retryAfterSeconds: 90 }), 5);
    await clock.advance(89_999);
    expect(isOpen()).toBe(false);
    await clock.advance(1);
    expect(isOpen()).toBe(true);
    breaker.failed(failure({ kind: "failed", status: 503, retryAfterSeconds: 86_400 }));
    await clock.advance(600_000);
    expect(isOpen()).toBe(true);
  });

  it("can be asked without being entered", async () => {
    fail(unauthorized, 1);
    expect(() => breaker.check()).toThrow(unauthorized);
    await clock.advance(2000);
    breaker.check();
    breaker.check();
    expect(isOpen()).toBe(true);
    expect(() => breaker.check()).toThrow(unauthorized);
  });

  it("lets no second probe through while one is under way", async () => {
    fail(unauthorized, 1);
    await clock.advance(2000);
    expect(isOpen()).toBe(true);
    expect(isOpen()).toBe(false);
  });

  it("opens as soon as a probe is answered", async () => {
    fail(outage, 5);
    await clock.advance(2000);
    breaker.enter();
    breaker.passed();
    expect(isOpen()).toBe(true);
    expect(isOpen()).toBe(true);
    expect(told).toEqual(["close", "open"]);
  });

  it("tries at once when something has changed, such as the key", () => {
    fail(unauthorized, 1);
    breaker.reopen();
    expect(isOpen()).toBe(true);
    expect(isOpen()).toBe(false);
    breaker.failed(unauthorized);
    expect(told).toEqual(["close"]);
  });
});
