import { expect, test } from "vitest";
import { settle } from "../../../test/fakes/runtime/virtual-clock.ts";
import { startedAfter } from "./start-step.ts";

function part() {
  const did: string[] = [];
  const steps = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const informer = {
    start: () => void did.push("start"),
    stop: async () => void did.push("stop"),
    synced: Promise.resolve(),
    reason: "not listed",
  };
  const waiting = startedAfter(
    steps.map(({ promise }) => ({ synced: promise })),
    informer,
  );
  return { did, steps, waiting };
}

test("a part starts when all the steps before it have succeeded", async () => {
  const { did, steps, waiting } = part();
  waiting.start();
  steps[0]?.resolve();
  await settle();
  expect(did).toEqual([]);
  steps[1]?.resolve();
  await settle();
  expect(did).toEqual(["start"]);
  expect(waiting.reason).toBe("not listed");
});

test("a part that was stopped before does not start", async () => {
  const { did, steps, waiting } = part();
  waiting.start();
  await waiting.stop();
  for (const step of steps) step.resolve();
  await settle();
  expect(did).toEqual(["stop"]);
});

test("a part does not start after a step that was stopped", async () => {
  const { did, steps, waiting } = part();
  waiting.start();
  steps[0]?.resolve();
  steps[1]?.reject(new Error("stopped"));
  await settle();
  expect(did).toEqual([]);
});
