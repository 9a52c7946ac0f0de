import { expect, test } from "vitest";
import { VirtualClock } from "../../../test/fakes/runtime/virtual-clock.ts";
import { RequestCount } from "./request-count.ts";

test("what is older than a minute does not count", async () => {
  const clock = new VirtualClock();
  const requests = new RequestCount(clock);
  expect(requests.lastMinute).toBe(0);
  requests.record();
  requests.record();
  await clock.advance(30_000);
  requests.record();
  expect(requests.lastMinute).toBe(3);
  await clock.advance(30_000);
  expect(requests.lastMinute).toBe(1);
  await clock.advance(30_000);
  expect(requests.lastMinute).toBe(0);
});
