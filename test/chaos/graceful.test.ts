import { describe, expect, test } from "vitest";
import { annotations } from "../../src/schema/contract.ts";
import { type KubeJSON, manifest } from "../../tools/shared/objects.ts";
import { useWorld } from "../support/world.ts";

/** More than are worked on at the same time. */
const COUNT = 120;

const objects = Array.from({ length: COUNT }, (_, index) =>
  index % 2 ? manifest("IPPolicy", `policy-${index}`, {}) : manifest("TunnelGroupBackend", `backend-${index}`, {}),
) as KubeJSON[];

describe.each([
  { what: "creates that are under way end", env: {} },
  { what: "those that wait for their turn are left to the next process", env: { REQUESTS_PER_MINUTE: "60" } },
])("SIGTERM in the middle of creates: $what", ({ env }) => {
  // with the usual deadline of 30 seconds an interrupted create would be settled long after this test
  const world = useWorld({ process: true, startOperator: false, simulator: { latencyMs: 400 } });

  const sent = (): number => world.simulator.control.count({ method: "POST" });
  const remotes = (): unknown[] =>
    ["ip_policies", "backends/tunnel_group"]
      .flatMap((name) => world.simulator.control.objects(name))
      .map(({ id }) => id)
      .sort();

  test("the process ends at once, without an error", async () => {
    await world.startOperator(env);
    await world.kube.apply(...objects);
    await world.until("creates are under way", async () => sent() > 5);
    const began = performance.now();
    expect(await world.operator.stop("SIGTERM")).toBe(0);
    // a process that waited for its requests would take their deadline of 30 seconds
    expect(performance.now() - began).toBeLessThan(20_000);
  });

  test("no create is left unfinished", async () => {
    const now = await world.kube.all();
    const begun = now.filter(({ metadata }) => metadata.annotations?.[annotations.createIntent]);
    expect(begun.map(({ status }) => status.id).sort()).toEqual(remotes());
    expect(begun.length).toBeLessThan(COUNT);
  });

  test("the next process continues, and creates no remote twice", async () => {
    await world.startOperator();
    await world.allReady(objects);
    expect(remotes()).toHaveLength(COUNT);
    expect(sent()).toBe(COUNT);
  });
});
