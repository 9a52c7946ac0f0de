import { expect, test } from "vitest";
import { Child } from "../../../tools/shared/child.ts";
import { manifest } from "../../../tools/shared/objects.ts";
import { OPERATOR } from "../../../tools/shared/operator.ts";
import { useWorld } from "../../support/world.ts";

const world = useWorld();

/**
 * How long a change takes to a page that is open, at most: half of the time after which it would read the account
 * anyway. On an idle machine it takes far less than a second.
 */
const SOON_MS = 30_000;

test("a change is told to the open pages at once", async () => {
  const { cluster, simulator, namespace } = world;
  const { PATH, HOME } = process.env;
  const account = { GATEWAY_BASE_URL: simulator.url, GATEWAY_API_KEY: simulator.apiKey, REQUESTS_PER_MINUTE: "0" };
  const env = { PATH, HOME, KUBECONFIG: cluster.kubeconfig, ...account };
  const page = new Child(OPERATOR, { args: ["ui", "--port", "0", "-n", namespace], env });
  try {
    const address = await page.said("?token=");
    const first = await fetch(address, { redirect: "manual" });
    const headers = { cookie: String(first.headers.get("set-cookie")).split(";")[0] ?? "" };
    const textOf = async (path: string) => (await fetch(new URL(path, address), { headers })).text();
    await world.apply(manifest("IPPolicy", "seen", {}));
    await world.ready("IPPolicy", "seen");
    await expect.poll(() => textOf("/topology")).toContain("seen");

    const events = await fetch(new URL("/events", address), { headers });
    const reader = (events.body as ReadableStream<Uint8Array>).getReader();
    // nothing else changes in the namespace, so the next event is of this one
    await world.apply(
      manifest("TCPEdge", "later", { backend: { backendRef: { kind: "TunnelGroupBackend", name: "none" } } }),
    );
    const applied = performance.now();
    for (let text = ""; !text.includes("event: change"); )
      text = Buffer.from((await reader.read()).value ?? []).toString();
    expect(performance.now() - applied).toBeLessThan(SOON_MS);
    await expect.poll(() => textOf("/")).toContain("Create TunnelGroupBackend");
    expect(await textOf("/activity")).toMatch(/TCPEdge\/later/);
    await reader.cancel();
  } finally {
    expect(await page.stop("SIGTERM")).toBe(0);
  }
});
