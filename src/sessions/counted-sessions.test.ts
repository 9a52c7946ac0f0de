import { beforeEach, expect, test } from "vitest";
import { session } from "../../test/fakes/sessions/fake-service.ts";
import { FakeWorld, NAMESPACE } from "../../test/fakes/sessions/fake-world.ts";
import type { CommandObject, CommandSpec } from "./command.ts";
import { CommandReconciler, type CommandReconcilerOptions } from "./command-reconciler.ts";
import type { Session } from "./session.ts";

// Two commands restart two agents that cannot be told apart: all that identifies them is equal.

const signal = new AbortController().signal;
const names = ["one", "two"] as const;
const first = "ts_n1";
const second = "ts_n2";

let world: FakeWorld;
let online: Session[];
let stored: Map<string, CommandObject>;
let isWritten: (name: string) => boolean;
let reconciler: CommandReconciler;

const commandOf = (name: string, id: string): CommandObject => ({
  apiVersion: "tunnelgateway.dev/v1",
  kind: "AgentCommand",
  metadata: { namespace: NAMESPACE, name, uid: name, generation: 1, resourceVersion: "1" },
  spec: { command: "Restart", maxConcurrent: 1, sessionRef: { id } } satisfies CommandSpec,
});

function start(): void {
  const { options, account } = world.process();
  const collection = { ...account.collection, allCached: () => online, perform: async () => {} };
  const more: Partial<CommandReconcilerOptions> = {
    accountOf: async () => {
      const now = world.clock.now();
      return { ...account, collection: { ...collection, listedAt: now, absenceProvedAt: now } as never };
    },
    command: (key) => stored.get(key),
    commands: () => [...stored.values()],
    async write(command, status) {
      const { name } = command.metadata;
      if (!isWritten(name)) throw new Error("the API server cannot be reached");
      const written = { ...command, status: structuredClone(status) };
      stored.set(name, written);
      return written;
    },
  };
  reconciler = new CommandReconciler({ ...options, ...more });
}

const reconcile = (...some: readonly string[]) =>
  Promise.allSettled(some.map((name) => reconciler.reconcile(name, signal)));
const newSessions = () => names.map((name) => stored.get(name)?.status?.sessions?.[0]?.newSession?.id);
const phases = () => names.map((name) => stored.get(name)?.status?.sessions?.[0]?.phase);

function reconnected(...ids: readonly string[]): void {
  world.advance(10);
  const startedAt = world.clock.date().toISOString();
  online.push(...ids.map((id) => session(id, { started_at: startedAt })));
}

beforeEach(async () => {
  online = [session("ts_1"), session("ts_2")];
  world = new FakeWorld({ command: "Restart", maxConcurrent: 1 }, online);
  stored = new Map([commandOf("one", "ts_1"), commandOf("two", "ts_2")].map((one) => [one.metadata.name, one]));
  isWritten = () => true;
  start();
  await reconcile(...names);
  expect(phases()).toEqual(["Returning", "Returning"]);
  online = [];
});

test("a new session counts for one of them, and the other waits for its own", async () => {
  reconnected(first);
  await reconcile(...names);
  await reconcile(...names);
  expect(newSessions()).toEqual([first, undefined]);
  expect(phases()).toEqual(["Succeeded", "Returning"]);
  reconnected(second);
  await reconcile(...names);
  expect(newSessions()).toEqual([first, second]);
});

test("the command whose agent does not come back fails", async () => {
  reconnected(first);
  await reconcile(...names);
  world.advance(5 * 60);
  await reconcile(...names);
  expect(phases()).toEqual(["Succeeded", "Failed"]);
});

test("it counts once while it is not written down", async () => {
  isWritten = (name) => name === "two";
  reconnected(first);
  await reconcile(...names);
  expect(newSessions()).toEqual([undefined, undefined]);
  isWritten = () => true;
  await reconcile("two", "one");
  expect(newSessions()).toEqual([first, undefined]);
});

test("the next process reads in the statuses what is counted", async () => {
  reconnected(first);
  await reconcile("one");
  start();
  await reconcile("two");
  expect(newSessions()).toEqual([first, undefined]);
});

test("a command that was deleted meanwhile has counted it all the same", async () => {
  reconnected(first);
  await reconcile("one");
  stored.delete("one");
  reconciler.forget("one");
  await reconcile("two");
  expect(phases()).toEqual([undefined, "Returning"]);
});
