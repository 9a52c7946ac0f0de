import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { randomFrom } from "../../tools/shared/random.ts";
import { seed } from "../fakes/runtime/seed.ts";
import { useWorld } from "../support/world.ts";
import { DISRUPTION_ENV, DisruptionTest } from "./support/disruption.ts";

const HOUR_MS = 3_600_000;

/** What bears a mark or has a name. What is known by its values alone is sought by the service's clock as well. */
const marked = ["/ip_policies", "/reserved_domains", "/backends/tunnel_group", "/edges/tcp"];

describe.each([seed()])("the calendar of the operator is set, with CHAOS_SEED=%d", (chosen) => {
  const world = useWorld({ process: true, startOperator: false, simulator: { seed: chosen }, env: DISRUPTION_ENV });
  const random = randomFrom(chosen);
  const disruption = new DisruptionTest(world, random);

  beforeAll(async () => {
    const env = { LEADER_ELECTION: "true", POD_NAMESPACE: world.namespace };
    await world.startOperator(env, { clock: { rate: 1 } });
    await disruption.begin();
  });

  /** So that there are creates of which nobody knows whether they were done. */
  function loseAnswers(): void {
    for (const path of marked) {
      const lose = (cut: "before" | "after") =>
        world.simulator.control.fault({ method: "POST", path, action: { cut }, probability: 0.1, times: 1000 });
      lose("before");
      lose("after");
    }
  }

  test.each([
    ["forward and back", [1, -3, 5, -2, 0.01, -1]],
    ["far into the past, and left there", [-48]],
    ["far into the future, and left there", [96]],
  ])("%s", async (_, hours) => {
    const lease = () => world.get("lease", "tunnel-gateway-operator");
    const { spec: before } = await lease();
    await disruption.survive(async () => {
      loseAnswers();
      await sleep(1_000);
      for (const by of hours) {
        world.operator.setClockBy(by * HOUR_MS);
        await sleep(3_000 / hours.length);
      }
      world.simulator.control.clearFaults();
    });
    const { spec: after } = await lease();
    expect([after.holderIdentity, after.leaseTransitions]).toEqual([before.holderIdentity, before.leaseTransitions]);
    expect(after.renewTime).not.toBe(before.renewTime);
  });
});
