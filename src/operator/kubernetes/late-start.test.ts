import { expect, test } from "vitest";
import { settle } from "../../runtime/testing/virtual-clock.ts";
import { startedWhenSynced, untilSynced } from "./late-start.ts";

function part() {
  const did: string[] = [];
  const { promise: synced, resolve: sync, reject: stop } = Promise.withResolvers<void>();
  synced.catch(() => {});
  const controller = startedWhenSynced([{ synced }], {
    start: () => void did.push("start"),
    drain: async () => void did.push("drain"),
    problem: "stuck",
  });
  return { did, sync, stop, synced, controller };
}

const never = new AbortController().signal;

test("a controller takes keys when its informer is synced, and not before", async () => {
  const { did, sync, controller } = part();
  controller.start(never);
  await settle();
  expect(did).toEqual([]);
  sync();
  await settle();
  expect(did).toEqual(["start"]);
  expect(controller.problem).toBe("stuck");
});

test("a controller that is drained before takes none", async () => {
  const { did, sync, controller } = part();
  controller.start(never);
  await controller.drain();
  sync();
  await settle();
  expect(did).toEqual(["drain"]);
});

test("who waits for an informer is told when it is synced, and when the operator stops instead", async () => {
  const { sync, synced } = part();
  const stop = new AbortController();
  const stopped = untilSynced([{ synced }], stop.signal);
  const waited = untilSynced([{ synced }], never);
  stop.abort();
  expect(await stopped).toBe(false);
  sync();
  expect(await waited).toBe(true);
});
