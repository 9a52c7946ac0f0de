import { describe, expect, test } from "vitest";
import { GatewayError } from "../gateway/errors.ts";
import { conditionOf } from "../objects/object.ts";
import type { CommandSpec } from "./command.ts";
import { session } from "./testing/fake-service.ts";
import { FakeWorld, KEY } from "./testing/fake-world.ts";
import { CommandVisits, type CommandWorld } from "./visit.ts";

const signal = new AbortController().signal;
const stop: CommandSpec = { command: "Stop", maxConcurrent: 1, sessionRef: { id: "ts_1" } };

function scene(spec = stop, change: (world: CommandWorld) => Partial<CommandWorld> = () => ({}), more = {}) {
  const fake = new FakeWorld(spec, [session("ts_1")], more);
  const { world, refresh } = fake.process();
  const visits = new CommandVisits({ ...world, ...change(world) });
  const status = () => fake.stored?.status;
  const condition = (type: string) => conditionOf(status(), type);
  return { fake, refresh, status, condition, visit: () => visits.visit(KEY, signal) };
}

describe("a visit", () => {
  test("records the session, then the request, then the answer; afterwards it writes nothing", async () => {
    const { fake, visit, status, condition } = scene();
    expect(await visit()).toEqual({ requeueAfterSeconds: 0 });
    expect(status()).toMatchObject({ completions: "1/1", completedAt: "2026-01-01T00:01:00Z" });
    expect(condition("Complete")).toMatchObject({ status: "True", reason: "Completed", observedGeneration: 1 });
    expect(condition("Ready")).toMatchObject({ status: "True" });
    const { resourceVersion } = fake.stored?.metadata ?? {};
    expect(await visit()).toEqual({});
    expect(fake.stored?.metadata.resourceVersion).toBe(resourceVersion);
  });

  test("deletes a finished command when its time is over", async () => {
    const { fake, visit } = scene({ ...stop, ttlSecondsAfterFinished: 60 });
    await visit();
    expect(await visit()).toEqual({ requeueAfterSeconds: expect.closeTo(66.7, 0) });
    fake.pass(60);
    await visit();
    expect(fake.stored).toBeUndefined();
  });

  test("sends nothing while it is paused, and goes on afterwards", async () => {
    const { fake, visit, status, condition, refresh } = scene(stop, undefined, {
      annotations: { "tunnelgateway.dev/paused": "true" },
    });
    await visit();
    expect(condition("Paused")).toMatchObject({ status: "True" });
    expect(fake.service.received).toEqual([]);
    const { annotations: _, ...metadata } = fake.stored?.metadata ?? {};
    Object.assign(fake.stored as object, { metadata });
    refresh();
    await visit();
    expect(status()?.succeeded).toBe(1);
    expect(condition("Paused")).toBeUndefined();
  });

  test("ends in words where it is not obeyed", async () => {
    const { fake, visit, condition } = scene(stop, undefined, { namespace: "elsewhere" });
    await visit();
    expect(condition("Failed")?.message).toContain('Create it in namespace "gateway"');
    expect(condition("Stalled")).toMatchObject({ reason: "CommandFailed" });
    expect(fake.service.received).toEqual([]);
  });

  test("waits for the mirror before it chooses by labels", async () => {
    const selector = { matchLabels: { "tunnelgateway.dev/region": "eu" } };
    const mirror = { isOn: true, isSynced: false };
    const { visit, status, condition } = scene({ command: "Stop", maxConcurrent: 1, selector }, () => ({ mirror }));
    expect(await visit()).toEqual({ backoff: true });
    expect(condition("Reconciling")).toMatchObject({ reason: "Pending" });
    mirror.isSynced = true;
    await visit();
    expect(status()?.succeeded).toBe(1);
  });

  test("lists by itself, now and then, where nobody mirrors", async () => {
    const since: number[] = [];
    const { fake, visit, status } = scene({ ...stop, command: "Restart" }, ({ collection }) => ({
      mirror: { isOn: false, isSynced: false },
      collection: {
        ...collection,
        allCached: () => [],
        listedAt: undefined,
        listed: async (at) => {
          since.push(fake.clock.now() - at);
        },
      },
    }));
    await visit();
    expect(status()?.sessions).toMatchObject([{ phase: "Returning" }]);
    expect(await visit()).toEqual({ requeueAfterSeconds: 10 });
    expect(since).toEqual([10_000, 10_000]);
  });

  test("goes back and says why when the service takes no more requests", async () => {
    const limited = new GatewayError({
      kind: "limited",
      status: 429,
      method: "POST",
      route: "/",
      problem: "429",
      retryAfterSeconds: 7,
    });
    let times = 1;
    const { visit, status, condition } = scene(stop, ({ collection }) => ({
      collection: {
        ...collection,
        allCached: () => [],
        perform: async (call, at) => {
          if (times-- > 0) throw limited;
          await collection.perform(call, at);
        },
      },
    }));
    expect(await visit()).toEqual({ backoff: true, atLeastSeconds: 7 });
    expect(status()?.sessions).toMatchObject([{ phase: "Pending" }]);
    expect(condition("Reconciling")).toMatchObject({ reason: "RateLimited" });
    await visit();
    expect(status()?.sessions).toMatchObject([{ phase: "Succeeded" }]);
  });

  test("sends nothing when somebody wrote first", async () => {
    const { fake, visit, refresh } = scene();
    const [before] = [fake.stored];
    Object.assign(fake, { stored: { ...before, metadata: { ...before?.metadata, resourceVersion: "7" } } });
    expect(await visit()).toEqual({ stale: true });
    expect(fake.service.received).toEqual([]);
    refresh();
    await visit();
    expect(fake.service.received).toHaveLength(1);
  });

  test("writes an answer late that could not be written at once", async () => {
    let writes = 0;
    const { fake, visit, status } = scene(stop, ({ write }) => ({
      write: async (command, next) => {
        if (++writes === 3) throw new Error("the API server cannot be reached");
        return write(command, next);
      },
    }));
    await expect(visit()).rejects.toThrow("cannot be reached");
    expect(status()?.sessions).toMatchObject([{ phase: "Sending" }]);
    await visit();
    expect(status()?.sessions).toMatchObject([{ phase: "Succeeded" }]);
    expect(fake.service.received).toHaveLength(1);
  });
});
