import { expect, it } from "vitest";
import { VirtualClock } from "../../test/fakes/runtime/virtual-clock.ts";
import { DeletionBurst } from "./deletion-burst.ts";

it("a burst is ten seconds long, and begins with its first deletion", async () => {
  const clock = new VirtualClock();
  const burst = new DeletionBurst(clock);
  await clock.advance(5_000);
  const first = clock.now();
  expect(burst.beganAt).toBe(first);
  await clock.advance(10_000);
  expect(burst.beganAt).toBe(first);
  burst.recordForbidden("tcp_edges");
  expect(burst.isForbidden("tcp_edges")).toBe(true);
  await clock.advance(1);
  expect(burst.isForbidden("tcp_edges")).toBe(false);
  expect(burst.beganAt).toBe(clock.now());
});

it("what the key may not read is remembered from before the first deletion", () => {
  const burst = new DeletionBurst(new VirtualClock());
  burst.recordForbidden("tcp_edges");
  expect(burst.isForbidden("tcp_edges")).toBe(true);
});

it("a deletion after a burst begins another one, so that no list from before it counts", async () => {
  const clock = new VirtualClock();
  const burst = new DeletionBurst(clock);
  expect(burst.beganAt).toBe(clock.now());
  await clock.advance(10_001);
  expect(burst.beganAt).toBe(clock.now());
});
