import { describe, expect, test } from "vitest";
import { mirrored, session } from "../../test/fakes/sessions/fake-service.ts";
import { FakeWorld, KEY } from "../../test/fakes/sessions/fake-world.ts";
import { GatewayError } from "../gateway/errors.ts";
import { conditionOf } from "../objects/object.ts";
import type { CommandSpec } from "./command.ts";
import { type CommandAccount, CommandReconciler, type CommandReconcilerOptions } from "./command-reconciler.ts";
import { sessionName } from "./naming.ts";
import type { Session } from "./session.ts";
import { NoTargetError } from "./targets.ts";

const signal = new AbortController().signal;
const stop: CommandSpec = { command: "Stop", maxConcurrent: 1, sessionRef: { id: "ts_1" } };

function scene(
  spec = stop,
  change: (options: CommandReconcilerOptions) => Partial<CommandReconcilerOptions> = () => ({}),
  more = {},
) {
  const fake = new FakeWorld(spec, [session("ts_1")], more);
  const { options, refresh } = fake.process();
  const reconciler = new CommandReconciler({ ...options, ...change(options) });
  const status = () => fake.stored?.status;
  const condition = (type: string) => conditionOf(status(), type);
  return { fake, refresh, status, condition, reconcile: () => reconciler.reconcile(KEY, signal) };
}

/** The options of a scene whose account differs. */
const withAccount =
  (change: (account: CommandAccount) => Partial<CommandAccount>) =>
  ({ accountOf }: CommandReconcilerOptions): Partial<CommandReconcilerOptions> => ({
    accountOf: async (command, at) => {
      const account = await accountOf(command, at);
      return { ...account, ...change(account) };
    },
  });

describe("a reconcile", () => {
  test("records the session, then the request, then the answer, and writes nothing after that", async () => {
    const { fake, reconcile, status, condition } = scene();
    expect(await reconcile()).toEqual({ requeueAfterSeconds: 0 });
    expect(status()).toMatchObject({ completions: "1/1", completedAt: "2026-01-01T00:01:00Z" });
    expect(condition("Complete")).toMatchObject({ status: "True", reason: "Completed", observedGeneration: 1 });
    expect(condition("Ready")).toMatchObject({ status: "True" });
    const { resourceVersion } = fake.stored?.metadata ?? {};
    expect(await reconcile()).toEqual({});
    expect(fake.stored?.metadata.resourceVersion).toBe(resourceVersion);
  });

  test("deletes a finished command after its TTL", async () => {
    const { fake, reconcile } = scene({ ...stop, ttlSecondsAfterFinished: 60 });
    await reconcile();
    expect(await reconcile()).toEqual({ requeueAfterSeconds: expect.closeTo(60, 0) });
    fake.advance(60);
    await reconcile();
    expect(fake.stored).toBeUndefined();
  });

  test("sends nothing while the command is paused, and continues afterwards", async () => {
    const { fake, reconcile, status, condition, refresh } = scene(stop, undefined, {
      annotations: { "tunnelgateway.dev/paused": "true" },
    });
    await reconcile();
    expect(condition("Paused")).toMatchObject({ status: "True" });
    expect(fake.service.received).toEqual([]);
    const { annotations: _, ...metadata } = fake.stored?.metadata ?? {};
    Object.assign(fake.stored as object, { metadata });
    refresh();
    await reconcile();
    expect(status()?.succeeded).toBe(1);
    expect(condition("Paused")).toBeUndefined();
  });

  test("is paused by an annotation that may mean it, and says what to write", async () => {
    const annotations = { "tunnelgateway.dev/paused": "yes", "tunnelgateway.dev/stop": "1" };
    const { fake, reconcile, condition } = scene(stop, undefined, { annotations });
    await reconcile();
    expect(condition("Paused")?.message).toContain('Write "true" or "false" in the annotation');
    expect(condition("AnnotationsValid")).toMatchObject({ status: "False", reason: "InvalidAnnotation" });
    expect(fake.service.received).toEqual([]);
  });

  test("fails a command that has no account, and holds one that has begun", async () => {
    let isGone = false;
    let online: Session[] = [];
    const { fake, reconcile, condition, status } = scene({ ...stop, command: "Restart" }, ({ accountOf }) => ({
      accountOf: async (command, at) => {
        if (isGone) throw new NoTargetError("Set tunnelSessions");
        const account = await accountOf(command, at);
        return { ...account, collection: { ...account.collection, listedAt: 1, allCached: () => online } };
      },
    }));
    await reconcile();
    expect(status()?.sessions).toMatchObject([{ phase: "Returning" }]);
    isGone = true;
    expect(await reconcile()).toEqual({ backoff: true });
    expect(condition("Reconciling")).toMatchObject({ reason: "AccountNotReady", message: "Set tunnelSessions" });
    expect(status()?.completedAt).toBeUndefined();
    isGone = false;
    online = fake.service.online;
    await reconcile();
    expect(status()?.succeeded).toBe(1);
    expect(fake.service.received).toHaveLength(1);

    const other = scene(stop, () => ({ accountOf: () => Promise.reject(new NoTargetError("Set tunnelSessions")) }));
    await other.reconcile();
    expect(other.condition("Failed")?.message).toContain("Set tunnelSessions");
    expect(other.condition("Stalled")).toMatchObject({ reason: "CommandFailed" });
    expect(other.fake.service.received).toEqual([]);
  });

  test("waits for the mirror before it selects sessions by labels", async () => {
    const selector = { matchLabels: { "tunnelgateway.dev/region": "eu" } };
    const mirror = { isEnabled: true, isSynced: false };
    const { reconcile, status, condition } = scene(
      { command: "Stop", maxConcurrent: 1, selector },
      withAccount(() => ({ mirror })),
    );
    expect(await reconcile()).toEqual({ backoff: true });
    expect(condition("Reconciling")).toMatchObject({ reason: "Pending" });
    mirror.isSynced = true;
    await reconcile();
    expect(status()?.succeeded).toBe(1);
  });

  test("commands a session that the latest list may have skipped, unless it is gone", async () => {
    const selector = { matchLabels: { "tunnelgateway.dev/region": "eu" } };
    const skipped = (read: CommandAccount["collection"]["read"]) =>
      withAccount(({ collection, objects }) => ({
        objects: () => [...objects(), mirrored(session("ts_2"))],
        collection: { ...collection, allCached: () => [session("ts_1")], hidden: [session("ts_2")], read },
      }));
    const spec: CommandSpec = { command: "Stop", maxConcurrent: 1, selector };
    const there = scene(
      spec,
      skipped(async (id) => session(id)),
    );
    await there.reconcile();
    expect(there.status()?.sessions).toMatchObject([{ id: "ts_1" }, { id: "ts_2" }]);
    const gone = scene(
      spec,
      skipped(async () => undefined),
    );
    await gone.reconcile();
    expect(gone.status()?.sessions).toMatchObject([{ id: "ts_1" }]);
    const named = scene(
      { ...stop, sessionRef: { name: sessionName("ts_2") } },
      skipped(async () => undefined),
    );
    await named.reconcile();
    expect(named.condition("Failed")?.message).toMatch(/^Correct spec.sessionRef.name/);
  });

  test("does not take an agent for lost because a list of several pages lacks its session", async () => {
    let absenceProvedAt = 0;
    const { fake, reconcile, status } = scene(
      { ...stop, command: "Restart" },
      withAccount(({ collection }) => ({
        collection: { ...collection, allCached: () => [], listedAt: fake.clock.now(), absenceProvedAt },
      })),
    );
    await reconcile();
    fake.advance(301);
    await reconcile();
    expect(status()?.sessions).toMatchObject([{ phase: "Returning" }]);
    absenceProvedAt = fake.clock.now();
    await reconcile();
    expect(status()?.sessions).toMatchObject([{ reason: "NotReconnected" }]);
  });

  test("lists the sessions itself every 10 seconds when they are not mirrored", async () => {
    const since: number[] = [];
    const { fake, reconcile, status } = scene(
      { ...stop, command: "Restart" },
      withAccount(({ collection }) => ({
        mirror: { isEnabled: false, isSynced: false },
        collection: {
          ...collection,
          allCached: () => [],
          listedAt: undefined,
          listed: async (at) => {
            since.push(fake.clock.now() - at);
          },
        },
      })),
    );
    await reconcile();
    expect(status()?.sessions).toMatchObject([{ phase: "Returning" }]);
    expect(await reconcile()).toEqual({ requeueAfterSeconds: 10 });
    expect(since).toEqual([10_000, 10_000]);
  });

  test("undoes the recorded request when the service answers 429, and reports that", async () => {
    const limited = new GatewayError({
      kind: "limited",
      status: 429,
      method: "POST",
      route: "/",
      problem: "429",
      retryAfterSeconds: 7,
    });
    let times = 1;
    const { reconcile, status, condition } = scene(
      stop,
      withAccount(({ collection }) => ({
        collection: {
          ...collection,
          allCached: () => [],
          command: async (...asked) => {
            if (times-- > 0) throw limited;
            await collection.command(...asked);
          },
        },
      })),
    );
    expect(await reconcile()).toEqual({ backoff: true, atLeastSeconds: 7 });
    expect(status()?.sessions).toMatchObject([{ phase: "Pending" }]);
    expect(condition("Reconciling")).toMatchObject({ reason: "RateLimited" });
    await reconcile();
    expect(status()?.sessions).toMatchObject([{ phase: "Succeeded" }]);
  });

  test("sends nothing when another writer was first", async () => {
    const { fake, reconcile, refresh } = scene();
    const [before] = [fake.stored];
    Object.assign(fake, { stored: { ...before, metadata: { ...before?.metadata, resourceVersion: "7" } } });
    expect(await reconcile()).toEqual({ stale: true });
    expect(fake.service.received).toEqual([]);
    refresh();
    await reconcile();
    expect(fake.service.received).toHaveLength(1);
  });

  test("writes an answer later if it could not be written at once", async () => {
    let writes = 0;
    const { fake, reconcile, status } = scene(stop, ({ write }) => ({
      write: async (command, next) => {
        if (++writes === 3) throw new Error("the API server cannot be reached");
        return write(command, next);
      },
    }));
    await expect(reconcile()).rejects.toThrow("cannot be reached");
    expect(status()?.sessions).toMatchObject([{ phase: "Sending" }]);
    await reconcile();
    expect(status()?.sessions).toMatchObject([{ phase: "Succeeded" }]);
    expect(fake.service.received).toHaveLength(1);
  });
});
