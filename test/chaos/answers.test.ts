import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { randomFrom } from "../../tools/shared/random.ts";
import type { FaultOptions } from "../../tools/simulator/control/faults.ts";
import { seed } from "../fakes/runtime/seed.ts";
import { ClusterGate, type Guard, isWatch, type Substitute } from "../support/gate.ts";
import { useWorld } from "../support/world.ts";
import { DISRUPTION_ENV, DisruptionTest } from "./support/disruption.ts";

/** What an API server says instead of an answer. */
const refusal = (code: number, reason: string, retryAfterSeconds?: number): Substitute => ({
  status: code,
  body: statusOf(code, reason),
  ...(retryAfterSeconds !== undefined && { headers: { "retry-after": String(retryAfterSeconds) } }),
});

const statusOf = (code: number, reason: string): string =>
  JSON.stringify({ kind: "Status", apiVersion: "v1", status: "Failure", code, reason, message: reason, metadata: {} });

const expired = `{"type":"ERROR","object":${statusOf(410, "Expired")}}`;

const overload: readonly Substitute[] = [
  refusal(429, "TooManyRequests", 1),
  refusal(429, "TooManyRequests"),
  refusal(503, "ServiceUnavailable", 1),
  refusal(503, "ServiceUnavailable"),
  refusal(500, "InternalError"),
  { status: 502, body: "<html>a proxy on the way</html>" },
];

describe.each([seed()])("answers, with CHAOS_SEED=%d", (chosen) => {
  const world = useWorld({ process: true, startOperator: false, simulator: { seed: chosen }, env: DISRUPTION_ENV });
  const random = randomFrom(chosen);
  const disruption = new DisruptionTest(world, random);
  let gate: ClusterGate;
  let lists = 0;

  beforeAll(async () => {
    gate = await ClusterGate.beforeCluster(world.cluster.kubeconfig);
    behave(() => undefined);
    await world.startOperator({}, { kubeconfig: gate.kubeconfig });
    await disruption.begin();
  });

  afterAll(async () => {
    await world.operator.stop("SIGKILL");
    await gate.close();
  });

  /** Lists are counted. */
  function behave(guard: Guard): void {
    gate.guard = (passage, side) => {
      if (side === "before" && passage.path.includes("sendInitialEvents")) lists += 1;
      return guard(passage, side);
    };
  }

  const overloaded: Guard = (_, side) => {
    // carried out, and the answer took too long
    if (side === "after") return random() < 0.1 ? refusal(504, "Timeout") : undefined;
    return random() < 0.4 ? random.of(overload) : undefined;
  };

  /** While it lasts, answers of the API server are what the guard says. */
  async function during(milliseconds: number, guard: Guard): Promise<void> {
    behave(guard);
    await sleep(milliseconds);
    behave(() => undefined);
  }

  test("of the API server: a watch has expired, while it is open and when it is resumed", async () => {
    const before = lists;
    await disruption.survive(async () => {
      const gone = refusal(410, "Expired");
      const guard: Guard = (passage, side) =>
        side === "before" && isWatch(passage) && random() < 0.3 ? gone : undefined;
      const refusing = during(3_000, guard);
      for (let round = 0; round < 5; round += 1) {
        await sleep(100 + random.below(900));
        gate.endWatches(expired);
      }
      await refusing;
    });
    // each kind, more than once
    expect(lists - before).toBeGreaterThan(20);
  });

  test("of the API server: too many requests, unavailable, failed, and late", () =>
    disruption.survive(async () => {
      const outage = during(6_000, overloaded);
      await sleep(2_000);
      gate.endWatches(`{"type":"ERROR","object":${statusOf(500, "InternalError")}}`);
      await outage;
    }));

  const refusing: FaultOptions[] = [
    { action: { rateLimit: { retryAfterSeconds: 1 } } },
    { action: { status: 429, body: { msg: "slow down" } } },
    { action: { status: 503, body: { msg: "down for a moment" }, headers: { "retry-after": "1" } } },
    { action: { status: 503, body: "<html>down</html>" } },
  ];
  const broken: FaultOptions[] = [
    { action: { delayMs: 700 } },
    // carried out when nobody waits any more; a change that is as late as that may undo a later one until the resync
    { action: { delayMs: 2_500 }, method: "POST" },
    { action: { delayMs: 2_500 }, method: "GET" },
    { action: { garbage: true } },
    { action: { truncate: true } },
    { action: { cut: "before" } },
    { action: { cut: "after" } },
    { action: { hang: true } },
    { action: { hang: "after" } },
  ];

  test.each([
    { how: "too many requests, and unavailable", faults: refusing, probability: 0.15 },
    { how: "slow, garbage, cut off before it acts and after, and none at all", faults: broken, probability: 0.05 },
  ])("of the service: $how", ({ faults, probability }) =>
    disruption.survive(async () => {
      const { control } = world.simulator;
      for (const fault of faults) control.fault({ ...fault, probability, times: Number.POSITIVE_INFINITY });
      await sleep(6_000);
      control.clearFaults();
    }),
  );
});
