import { beforeEach, describe, expect, it } from "vitest";
import { VirtualClock } from "../../../test/fakes/runtime/virtual-clock.ts";
import { type Failure, GatewayError, NO_API_KEY } from "../../gateway/errors.ts";
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

const mistake = failure({ kind: "unsent", cause: new TypeError("connect is not a function") });

/** Whether a request may be sent. */
const sends = (): Promise<boolean> =>
  breaker.ready().then(
    () => true,
    () => false,
  );

const probes = (): boolean => {
  try {
    breaker.beginProbe();
    return true;
  } catch {
    return false;
  }
};

function fail(error: GatewayError, times: number): void {
  for (let count = 0; count < times; count += 1) breaker.failed(error);
}

describe("CircuitBreaker", () => {
  it("stays closed through a few failures", async () => {
    fail(outage, 4);
    expect(await sends()).toBe(true);
    expect(calls).toEqual([]);
  });

  it("knows for the given time that the service has carried out a request, and not while it is open", async () => {
    expect(breaker.wasAcceptedWithin(1000)).toBe(false);
    breaker.succeeded();
    await clock.advance(999);
    expect(breaker.wasAcceptedWithin(1000)).toBe(true);
    await clock.advance(1);
    expect(breaker.wasAcceptedWithin(1000)).toBe(false);
    breaker.succeeded();
    breaker.failed(unauthorized);
    expect(breaker.wasAcceptedWithin(1000)).toBe(false);
  });

  it("does not take a refusal of one request for one that was carried out", () => {
    breaker.failed(failure({ kind: "refused", status: 404 }));
    expect(breaker.wasAcceptedWithin(1000)).toBe(false);
  });

  it("opens after several failures in a row, and fails further requests with the same error", async () => {
    fail(outage, 5);
    await expect(breaker.ready()).rejects.toBe(outage);
    expect(breaker.problem).toBe(outage);
    expect(calls).toEqual(["opened"]);
  });

  it.each([
    ["an answer", () => breaker.succeeded()],
    ["a refusal of one request", () => breaker.failed(failure({ kind: "refused", status: 400 }))],
    ["a 429", () => breaker.failed(failure({ kind: "limited", status: 429 }))],
  ])("starts to count again after %s", async (_, happens) => {
    fail(outage, 4);
    happens();
    fail(outage, 4);
    expect(await sends()).toBe(true);
  });

  it.each([
    ["a key that is refused", unauthorized],
    ["no key", failure({ kind: "unsent", code: NO_API_KEY })],
  ])("opens at once for %s", async (_, error) => {
    breaker.failed(error);
    expect(await sends()).toBe(false);
  });

  it("reports no problem and delays no probe while it is closed", () => {
    breaker.probeSoon();
    expect([breaker.problem, breaker.isProbeDue]).toEqual([undefined, false]);
    expect([probes(), probes()]).toEqual([true, true]);
  });

  it("does not lengthen the delay after a failure of a request that was no probe", async () => {
    fail(outage, 5);
    breaker.failed(outage);
    await clock.advance(2000);
    expect(breaker.isProbeDue).toBe(true);
  });

  it("lets a probe through after growing pauses", async () => {
    fail(unauthorized, 1);
    const seconds: number[] = [];
    for (let second = 1; second <= 300; second += 1) {
      await clock.advance(1000);
      if (!probes()) continue;
      seconds.push(second);
      breaker.failed(unauthorized);
    }
    expect(seconds.slice(0, 5)).toEqual([2, 6, 14, 30, 62]);
    expect(seconds.slice(5)).toEqual([122, 182, 242]);
  });

  it("lets only probes through, also when one is due", async () => {
    fail(outage, 5);
    await clock.advance(2000);
    expect(await sends()).toBe(false);
    expect(probes()).toBe(true);
  });

  it("ignores answers to requests that were under way when it opened", async () => {
    const { probeEpoch } = breaker;
    fail(outage, 5);
    breaker.succeeded(probeEpoch);
    for (let count = 0; count < 40; count += 1) breaker.failed(outage, probeEpoch);
    expect(await sends()).toBe(false);
    await clock.advance(2000);
    expect(probes()).toBe(true);
    breaker.failed(outage);
    await clock.advance(4000);
    expect(probes()).toBe(true);
  });

  it("waits as long as Retry-After says, but 10 minutes at the most", async () => {
    fail(failure({ kind: "failed", status: 503, retryAfterSeconds: 90 }), 5);
    await clock.advance(89_999);
    expect(probes()).toBe(false);
    await clock.advance(1);
    expect(probes()).toBe(true);
    breaker.failed(failure({ kind: "failed", status: 503, retryAfterSeconds: 86_400 }));
    await clock.advance(600_000);
    expect(probes()).toBe(true);
  });

  it("lets no second probe through while one is under way", async () => {
    fail(unauthorized, 1);
    await clock.advance(2000);
    expect(probes()).toBe(true);
    expect(probes()).toBe(false);
  });

  it("ignores the late answer to an earlier probe once a later one has closed it", async () => {
    fail(unauthorized, 1);
    const { probeEpoch } = breaker;
    await clock.advance(2000);
    expect(probes()).toBe(true);
    await clock.advance(2000);
    expect(probes()).toBe(true);
    breaker.succeeded(probeEpoch);
    breaker.failed(unauthorized, probeEpoch);
    expect(await sends()).toBe(true);
  });

  it("closes as soon as a probe is answered", async () => {
    fail(outage, 5);
    await clock.advance(2000);
    breaker.beginProbe();
    breaker.succeeded();
    expect(await sends()).toBe(true);
    expect(calls).toEqual(["opened", "recovered"]);
  });

  it("lets a probe through at once after probeSoon", () => {
    fail(unauthorized, 1);
    breaker.probeSoon();
    expect(probes()).toBe(true);
    expect(probes()).toBe(false);
    breaker.failed(unauthorized);
    expect(calls).toEqual(["opened"]);
  });

  it("continues with its last delay when it opens again soon after it was closed", async () => {
    const pauses: number[] = [];
    const pause = async () => {
      const begun = clock.now();
      while (!probes()) await clock.advance(1000);
      pauses.push((clock.now() - begun) / 1000);
    };
    fail(outage, 5);
    await pause();
    breaker.failed(outage);
    await pause();
    breaker.succeeded();
    await clock.advance(1000);
    fail(outage, 5);
    await pause();
    breaker.succeeded();
    await clock.advance(60_000);
    fail(outage, 5);
    await pause();
    expect(pauses).toEqual([2, 4, 4, 2]);
  });
});

describe("a CircuitBreaker with a probe by another route", () => {
  let asked: GatewayError[];
  let answer: (problem?: Error) => void;

  beforeEach(() => {
    asked = [];
    breaker = new CircuitBreaker({
      clock,
      probe: (error) =>
        new Promise((resolve, reject) => {
          asked.push(error);
          answer = (problem) => (problem ? reject(problem) : resolve());
        }),
      onOpened: () => calls.push("opened"),
      onRecovered: (since) => calls.push(`recovered since ${since}`),
    });
  });

  it.each([
    ["five failures in a row", outage, 5],
    ["one refusal of the key", unauthorized, 1],
  ])("sends the probe after %s, once, and lets requests wait for the answer", async (_, error, times) => {
    fail(error, times);
    fail(error, 40);
    expect(asked).toEqual([error]);
    let sent: boolean | undefined;
    void sends().then((may) => {
      sent = may;
    });
    await clock.advance(10_000);
    expect(sent).toBeUndefined();
    answer();
    await clock.advance(0);
    expect(sent).toBe(true);
    expect(calls).toEqual([]);
  });

  it.each([
    ["is refused too", unauthorized],
    ["fails too", outage],
  ])("opens with the error of the probe when the probe %s", async (_, error) => {
    fail(failure({ kind: "refused", status: 401, method: "POST" }), 1);
    answer(error);
    await expect(breaker.ready()).rejects.toBe(error);
    expect(calls).toEqual(["opened"]);
  });

  it.each([
    ["is not permitted", failure({ kind: "refused", status: 403 })],
    ["is not sent, since the process stops", new Error("stopping")],
    ["fails by a mistake of the program", mistake],
  ])("stays closed when the probe %s", async (_, error) => {
    fail(outage, 5);
    answer(error);
    expect(await sends()).toBe(true);
  });

  it("sends no further probe because of requests that were under way", async () => {
    const { probeEpoch } = breaker;
    fail(outage, 5);
    answer();
    await clock.advance(0);
    for (let count = 0; count < 40; count += 1) breaker.failed(outage, probeEpoch);
    expect(asked).toHaveLength(1);
  });

  it("starts to count anew after the probe was answered", async () => {
    fail(outage, 5);
    answer();
    await clock.advance(0);
    fail(outage, 4);
    expect(asked).toHaveLength(1);
    fail(outage, 1);
    expect(asked).toHaveLength(2);
  });

  it("reports since when requests have failed", async () => {
    await clock.advance(1000);
    fail(outage, 1);
    await clock.advance(1000);
    fail(outage, 4);
    answer(outage);
    await clock.advance(2000);
    breaker.beginProbe();
    breaker.succeeded();
    expect(calls).toEqual(["opened", "recovered since 1000"]);
  });

  it("opens at once when there is no key for a probe", async () => {
    breaker.failed(failure({ kind: "unsent", code: NO_API_KEY }));
    expect(asked).toEqual([]);
    expect(await sends()).toBe(false);
  });
});

describe("a mistake of the program", () => {
  it("opens no breaker, since it says nothing about the service", async () => {
    for (let n = 0; n < 10; n += 1) breaker.failed(mistake);
    expect(await sends()).toBe(true);
    expect(calls).toEqual([]);
  });

  it("ends a probe, and closes no breaker", async () => {
    for (let n = 0; n < 10; n += 1) breaker.failed(outage);
    expect(calls).toEqual(["opened"]);
    await clock.advance(60_000);
    expect(probes()).toBe(true);
    breaker.failed(mistake);
    expect([breaker.problem, calls]).toEqual([outage, ["opened"]]);
    await clock.advance(600_000);
    expect(probes()).toBe(true);
  });
});
