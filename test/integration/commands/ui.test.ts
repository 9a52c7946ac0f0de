import { expect, test } from "vitest";
import { manifest } from "../../../tools/shared/objects.ts";
import { useWorld } from "../../support/world.ts";
import { withPages } from "./support/pages.ts";

const world = useWorld();

/**
 * How long a change takes to a page that is open, at most: half of the time after which it would read the account
 * anyway. On an idle machine it takes far less than a second.
 */
const SOON_MS = 30_000;

test("a change is told to the open pages at once", () =>
  withPages(world, async ({ load }) => {
    const textOf = async (path: string) => (await load(path)).text();
    await world.apply(manifest("IPPolicy", "seen", {}));
    await world.ready("IPPolicy", "seen");
    await expect.poll(() => textOf("/topology")).toContain("seen");

    const reader = ((await load("/events")).body as ReadableStream<Uint8Array>).getReader();
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
  }));
