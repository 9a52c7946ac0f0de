import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { apiServerForTest } from "../../../test/fakes/runtime/api-server-for-test.ts";
import type { FakeApiServer } from "../../../test/fakes/runtime/fake-api-server.ts";
import { recordingLogger } from "../../../test/fakes/runtime/logs.ts";
import { VirtualClock } from "../../../test/fakes/runtime/virtual-clock.ts";
import type { KubeClient } from "../connection/client.ts";
import type { KubeObject } from "../object.ts";
import { type EventInput, EventRecorder, truncate } from "./events.ts";

const collection = "events.k8s.io/v1/events";

let server: FakeApiServer;
let client: KubeClient;
let clock: VirtualClock;
let recorder: EventRecorder;

beforeEach(async () => {
  ({ server, client } = await apiServerForTest());
  clock = new VirtualClock();
  recorder = new EventRecorder({
    client,
    controller: "example.dev/operator",
    instance: "pod-1",
    log: recordingLogger(),
    clock,
  });
});

afterEach(async () => {
  await recorder.close();
  expect(clock.pending).toBe(0);
});

const input = (more: Partial<EventInput> = {}): EventInput => ({
  object: {
    apiVersion: "example.dev/v1",
    kind: "Thing",
    metadata: { name: "a", namespace: "ns", uid: "uid-1", resourceVersion: "7" },
  },
  type: "Normal",
  reason: "Created",
  action: "Create",
  note: "Created remote thing",
  ...more,
});

const written = () => server.storage.list(collection) as (KubeObject & { series?: object; note: string })[];

describe("EventRecorder", () => {
  it("writes events of events.k8s.io/v1", async () => {
    recorder.emit(input());
    await recorder.flush();
    expect(written()).toMatchObject([
      {
        apiVersion: "events.k8s.io/v1",
        kind: "Event",
        metadata: { name: expect.stringMatching(/^a\.[0-9a-f]{16}$/), namespace: "ns" },
        eventTime: "2026-01-01T00:00:00.000000Z",
        reportingController: "example.dev/operator",
        reportingInstance: "pod-1",
        regarding: {
          apiVersion: "example.dev/v1",
          kind: "Thing",
          name: "a",
          namespace: "ns",
          uid: "uid-1",
          resourceVersion: "7",
        },
        type: "Normal",
        reason: "Created",
        action: "Create",
        note: "Created remote thing",
      },
    ]);
    expect(written()[0]?.series).toBeUndefined();
  });

  it.each(["-", ".", ".-"])("gives the event a valid name where it cuts a long name at %s", async (end) => {
    const name = `${"a".repeat(230 - end.length)}${end}b${"c".repeat(20)}`;
    const { object } = input();
    recorder.emit(input({ object: { ...object, metadata: { ...object.metadata, name } } }));
    await recorder.flush();
    expect(written()[0]?.metadata.name).toMatch(/^a+\.[0-9a-f]{16}$/);
  });

  it("counts repeats in the series of the first", async () => {
    for (let n = 0; n < 3; n += 1) {
      recorder.emit(input());
      await recorder.flush();
      await clock.advance(60_000);
    }
    expect(written()).toHaveLength(1);
    expect(written()[0]?.series).toEqual({ count: 3, lastObservedTime: "2026-01-01T00:02:00.000000Z" });
  });

  it("begins a new series when the last event was more than six minutes ago", async () => {
    recorder.emit(input());
    await recorder.flush();
    await clock.advance(6 * 60_000 + 1);
    recorder.emit(input());
    await recorder.flush();
    expect(written()).toHaveLength(2);
  });

  it("writes an event for each different note", async () => {
    recorder.emit(input());
    recorder.emit(input({ note: "something else" }));
    await recorder.flush();
    expect(written().map(({ note }) => note)).toEqual(["Created remote thing", "something else"]);
  });

  it("writes a repeat as a new event when the first has expired", async () => {
    recorder.emit(input());
    await recorder.flush();
    const [first] = written();
    server.storage.delete(collection, `ns/${first?.metadata.name}`);
    recorder.emit(input());
    await recorder.flush();
    expect(written()).toMatchObject([{ series: { count: 2 } }]);
  });

  it("limits one object to 25 events, but not the others", async () => {
    for (let n = 0; n < 40; n += 1) recorder.emit(input({ note: `number ${n}` }));
    const { object } = input();
    recorder.emit(input({ object: { ...object, metadata: { ...object.metadata, name: "b", uid: "uid-2" } } }));
    await recorder.flush();
    expect(written()).toHaveLength(26);
  });

  it("drops an event that is refused, and writes the next", async () => {
    server.faults.push({ status: 403 });
    recorder.emit(input({ note: "refused" }));
    recorder.emit(input({ note: "accepted" }));
    await recorder.flush();
    expect(written().map(({ note }) => note)).toEqual(["accepted"]);
  });

  it("ignores events after close, and does not wait for a server that does not answer", async () => {
    server.faults.push({ hang: true });
    recorder.emit(input());
    const closed = recorder.close(5);
    await clock.advance(5_000);
    await closed;
    recorder.emit(input({ note: "too late" }));
    await recorder.flush();
    expect(written()).toEqual([]);
  });
});

it.each([
  ["abc", 10, "abc"],
  ["abcdef", 3, "abc"],
  ["aä", 2, "a"],
  ["aä", 3, "aä"],
  ["🙂🙂", 7, "🙂"],
])("cuts %s at %i bytes to %s", (text, bytes, expected) => {
  expect(truncate(text, bytes)).toBe(expected);
});
