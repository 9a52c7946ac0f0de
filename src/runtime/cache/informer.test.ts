import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { apiServerForTest } from "../../../test/fakes/runtime/api-server-for-test.ts";
import type { FakeApiServer } from "../../../test/fakes/runtime/fake-api-server.ts";
import { recordingLogger } from "../../../test/fakes/runtime/logs.ts";
import { until } from "../../../test/fakes/runtime/until.ts";
import type { KubeClient } from "../connection/client.ts";
import type { KubeObject, ResourceType } from "../object.ts";
import { Informer, type InformerOptions } from "./informer.ts";
import type { Change } from "./store.ts";
import type { ReflectorTiming } from "./timing.ts";

const type: ResourceType = { group: "example.dev", version: "v1", plural: "things", kind: "Thing" };
const collection = "example.dev/v1/things";

const quick: Partial<ReflectorTiming> = {
  backoff: { base: 0.002, cap: 0.02, resetAfter: 1 },
  minWatchSeconds: 0,
  minListIntervalSeconds: 0.002,
  notServedSeconds: 0.01,
};

const thing = (name: string, value = 0, namespace = "default"): KubeObject => ({
  apiVersion: "example.dev/v1",
  kind: "Thing",
  metadata: { name, namespace },
  spec: { value },
});

let server: FakeApiServer;
let client: KubeClient;
let informer: Informer;
let changes: Change[];
let log: ReturnType<typeof recordingLogger>;

beforeEach(async () => {
  ({ server, client } = await apiServerForTest());
  changes = [];
  log = recordingLogger();
});

afterEach(() => informer.stop());

function inform(options: Partial<InformerOptions<KubeObject>> = {}): Informer {
  informer = new Informer({ client, type, log, timing: quick, ...options });
  informer.addHandler((change) => changes.push(change));
  informer.start();
  return informer;
}

const create = (name: string, namespace?: string) => server.storage.create(collection, thing(name, 0, namespace));
const setValue = (name: string, value: number) =>
  server.storage.update(collection, `default/${name}`, (object) => ({ ...object, spec: { value } }));
const remove = (name: string) => server.storage.delete(collection, `default/${name}`);
const valueIn = (name: string) =>
  (informer.store.get(`default/${name}`)?.["spec"] as { value: number } | undefined)?.value;
const told = () => changes.map(({ type, object }) => `${type} ${object.metadata.name}`);
const queries = () => server.received.map(({ query }) => Object.fromEntries(query));

describe("Informer", () => {
  it("reports the objects of the first list as initial, and later ones not", async () => {
    create("a");
    const { synced } = inform();
    await synced;
    create("b");
    await until(() => changes.length === 2);
    expect(changes).toMatchObject([
      { type: "added", initial: true, object: { metadata: { name: "a" } } },
      { type: "added", initial: false, object: { metadata: { name: "b" } } },
    ]);
  });

  it("lists and watches in one request", async () => {
    create("a");
    await inform().synced;
    setValue("a", 1);
    await until(() => valueIn("a") === 1);
    expect(queries()).toEqual([
      {
        watch: "true",
        allowWatchBookmarks: "true",
        timeoutSeconds: expect.stringMatching(/^([345]\d\d|600)$/),
        sendInitialEvents: "true",
        resourceVersionMatch: "NotOlderThan",
      },
    ]);
  });

  it("is synced when there are no objects", async () => {
    await inform().synced;
    expect(informer.hasSynced).toBe(true);
    expect(informer.reason).toBeUndefined();
  });

  it.each(["reject", "ignore"] as const)("lists in pages from a server that %ss initial events", async (how) => {
    server.initialEvents = how;
    for (let n = 0; n < 1100; n += 1) create(`thing-${n}`);
    inform({ timing: { ...quick, initialIdleSeconds: 0.05 } });
    await informer.synced;
    expect(informer.store.size).toBe(1100);
    setValue("thing-7", 1);
    await until(() => valueIn("thing-7") === 1);
    expect(queries().filter(({ limit }) => limit === "500")).toHaveLength(3);
    expect(informer.store.get("default/thing-0")).toMatchObject({ apiVersion: "example.dev/v1", kind: "Thing" });
  });

  it.each([
    ["that the server refused", "reject"],
    ["that stood still", "ignore"],
  ] as const)("streams lists again, some time after one %s", async (_, how) => {
    server.initialEvents = how;
    create("a");
    inform({ timing: { ...quick, initialIdleSeconds: 0.05, idleSeconds: 0.05, pagesSeconds: 0.2 } });
    await informer.synced;
    server.initialEvents = "send";
    const before = queries().length;
    await until(() =>
      queries()
        .slice(before)
        .some(({ sendInitialEvents }) => sendInitialEvents === "true"),
    );
    setValue("a", 1);
    await until(() => valueIn("a") === 1);
  });

  it("does not conclude from a missing answer that the server has no initial events", async () => {
    create("a");
    server.faults.push({ hang: true });
    inform({ timing: { ...quick, initialIdleSeconds: 0.4 } });
    await informer.synced;
    expect(queries().map(({ limit, sendInitialEvents }) => [limit, sendInitialEvents])).toEqual([
      [undefined, "true"],
      [undefined, "true"],
    ]);
  });

  it("recognizes a server without initial events by its bookmarks too", async () => {
    server.initialEvents = "ignore";
    create("a");
    inform();
    await until(() => server.watches.size === 1);
    server.bookmark();
    await informer.synced;
    expect(informer.store.size).toBe(1);
  });

  it.each(["end", "reset", "truncate"] as const)("misses nothing when the watch breaks by %s", async (how) => {
    create("a");
    await inform().synced;
    for (const watch of server.watches) watch[how]();
    setValue("a", 1);
    create("b");
    await until(() => told().length === 3);
    expect(told()).toEqual(["added a", "updated a", "added b"]);
  });

  it("resumes where it was after the connection broke", async () => {
    create("a");
    await inform().synced;
    const revision = String(server.storage.revision);
    for (const watch of server.watches) watch.reset();
    await until(() => server.received.length === 2);
    expect(queries()[1]).toMatchObject({ watch: "true", resourceVersion: revision });
  });

  const delays = () => log.lines.flatMap(({ fields: { delaySeconds } }) => (delaySeconds ? [delaySeconds] : []));

  it.each([
    ["hesitates no longer each time when connections break that have served for a while", 0, [0.01, 0.01, 0.01]],
    ["hesitates longer each time when they break at once", 60, [0.01, 0.02, 0.04]],
  ])("%s", async (_, healthySeconds, expected) => {
    create("a");
    const backoff = { base: 0.01, cap: 60, resetAfter: 60 };
    inform({ timing: { ...quick, backoff, healthySeconds }, random: () => 1 });
    await informer.synced;
    for (const { length } of [[], [0], [0, 0]]) {
      await until(() => delays().length === length && server.watches.size === 1);
      for (const watch of server.watches) watch.reset();
    }
    await until(() => delays().length === 3);
    expect(delays()).toEqual(expected);
  });

  it("resumes at the last bookmark, not at the last event", async () => {
    create("a");
    await inform().synced;
    server.storage.create("example.dev/v1/others", thing("other"));
    server.bookmark();
    for (const watch of server.watches) watch.end();
    await until(() => server.received.length === 2);
    expect(queries()[1]).toMatchObject({ resourceVersion: String(server.storage.revision) });
  });

  it("lists again after 410, and reports only what has changed", async () => {
    create("a");
    create("b");
    await inform().synced;
    for (const watch of server.watches) watch.mute();
    setValue("a", 1);
    remove("b");
    create("c");
    server.storage.compact();
    for (const watch of server.watches) watch.reset();
    await until(() => told().length === 5);
    expect(told()).toEqual(["added a", "added b", "updated a", "added c", "deleted b"]);
    expect(changes.slice(2).every(({ type, initial }) => type === "deleted" || !initial)).toBe(true);
  });

  it("lists less and less often while each watch ends with 410 right after its list", async () => {
    create("a");
    const backoff = { base: 0.2, cap: 10, resetAfter: 100 };
    inform({ timing: { ...quick, backoff }, random: () => 1 });
    await informer.synced;
    const expire = setInterval(() => {
      for (const watch of server.watches) watch.fail(410, "Expired");
    }, 2);
    await sleep(1000);
    clearInterval(expire);
    // 200 ms, and then twice as long each time
    expect(queries().length).toBeLessThan(6);
  });

  it("lists again when a watch was idle for too long", async () => {
    create("a");
    inform({ timing: { ...quick, idleSeconds: 0.05 } });
    await informer.synced;
    for (const watch of server.watches) watch.mute();
    setValue("a", 1);
    await until(() => valueIn("a") === 1);
  });

  it("ends a watch that the server should have ended, and resumes it without listing", async () => {
    create("a");
    inform({ timing: { ...quick, watchSeconds: 0, graceSeconds: 0.2 } });
    await informer.synced;
    await until(() => server.received.length >= 3);
    expect(
      queries()
        .slice(1)
        .every(({ resourceVersion }) => resourceVersion === String(server.storage.revision)),
    ).toBe(true);
    expect(log.lines.filter(({ level }) => level === "warn")).toEqual([]);
  });

  it("treats an object that was deleted and created again as two", async () => {
    const first = create("a");
    await inform().synced;
    for (const watch of server.watches) watch.mute();
    remove("a");
    const second = create("a");
    server.storage.compact();
    for (const watch of server.watches) watch.end();
    await until(() => changes.length === 3);
    expect(changes.map(({ type, object }) => [type, object.metadata.uid])).toEqual([
      ["added", first.metadata.uid],
      ["deleted", first.metadata.uid],
      ["added", second.metadata.uid],
    ]);
  });

  it("follows a server that was restored from a backup", async () => {
    const backup = [create("a"), create("b")];
    const revision = server.storage.revision;
    for (let n = 1; n < 5; n += 1) setValue("a", n);
    create("c");
    inform({ timing: { ...quick, idleSeconds: 0.05 } });
    await informer.synced;
    server.storage.restore(collection, backup, revision);
    await until(() => valueIn("a") === 0 && informer.store.size === 2);
    setValue("a", 9);
    await until(() => valueIn("a") === 9);
  });

  it("waits for a kind that is not served yet, and says so", async () => {
    server.absent.add(collection);
    inform();
    await until(() => informer.reason?.includes("CRD") ?? false);
    expect(informer.hasSynced).toBe(false);
    server.absent.clear();
    await informer.synced;
    expect(informer.reason).toBeUndefined();
  });

  it("does not keep others waiting for a kind that is not served, and reports which kind it is", async () => {
    server.absent.add(collection);
    inform({ timing: { ...quick, refusedSeconds: 0.02 } });
    await informer.settled;
    expect(informer).toMatchObject({ hasSynced: false, refusal: "notServed", isConnected: false });
    server.absent.clear();
    await informer.synced;
    expect(informer).toMatchObject({ hasSynced: true, refusal: undefined, isConnected: true });
  });

  it("keeps others waiting as long as a list fails for another reason", async () => {
    let settled = false;
    for (let count = 0; count < 10; count += 1) server.faults.push({ status: 500 });
    inform({ timing: { ...quick, refusedSeconds: 0 } });
    void informer.settled.then(() => {
      settled = settled || !informer.hasSynced;
    });
    await informer.synced;
    expect(settled).toBe(false);
  });

  it("reports that its watch is dead when it was not open for long, and stops when it is open again", async () => {
    create("a");
    inform({ timing: { ...quick, deadSeconds: 0.02, backoff: { base: 0.005, cap: 0.005, resetAfter: 1 } } });
    await informer.synced;
    expect(informer.reason).toBeUndefined();
    for (let count = 0; count < 10_000; count += 1) server.faults.push({ status: 403 });
    for (const watch of server.watches) watch.end();
    await until(() => !informer.isConnected);
    await until(() => informer.reason?.includes("things") ?? false);
    expect(informer.hasSynced).toBe(true);
    server.faults.length = 0;
    await until(() => informer.reason === undefined && informer.isConnected);
  });

  it("retries a watch that is refused with 429 from the same place, not before Retry-After", async () => {
    create("a");
    await inform().synced;
    server.faults.push({ status: 429, retryAfter: 0.1 });
    for (const watch of server.watches) watch.end();
    const before = performance.now();
    await until(() => server.received.length === 3);
    expect(performance.now() - before).toBeGreaterThan(90);
    expect(queries()[2]?.["resourceVersion"]).toBe(queries()[1]?.["resourceVersion"]);
  });

  it("lists and watches its namespaces only", async () => {
    create("a", "one");
    create("a", "two");
    create("a", "three");
    inform({ namespaces: ["one", "two"] });
    await informer.synced;
    create("b", "two");
    create("b", "three");
    await until(() => changes.length === 3);
    expect(informer.store.list().map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)).toEqual([
      "one/a",
      "two/a",
      "two/b",
    ]);
  });

  it("goes on without a namespace that is refused, says which it is, and begins there when it is not any more", async () => {
    create("a", "one");
    create("b", "two");
    server.forbidden.add("two");
    inform({ namespaces: ["one", "two"], timing: { ...quick, refusedSeconds: 0.02 } });
    const listed: string[] = [];
    informer.addListHandler((namespace) => listed.push(`${namespace} ${informer.store.list(namespace).length}`));
    await informer.settled;
    const state = () =>
      ["one", "two", "three"].map((namespace) => [
        ...[informer.watches(namespace), informer.hasSyncedIn(namespace), informer.refusalIn(namespace)],
        ...[informer.isConnectedIn(namespace), informer.problemIn(namespace)?.includes("Forbidden")],
      ]);
    const notWatched = [false, false, undefined, false, undefined];
    const read = [true, true, undefined, true, undefined];
    expect(state()).toEqual([read, [true, false, "forbidden", false, true], notWatched]);
    expect([informer.hasSynced, informer.store.size, listed]).toEqual([false, 1, ["one 1"]]);

    server.forbidden.clear();
    await informer.synced;
    expect(state()).toEqual([read, read, notWatched]);
    expect(listed).toEqual(["one 1", "two 1"]);
  });

  it("says which namespace it may not watch any more, keeps its objects, and goes on when it may", async () => {
    create("a", "one");
    create("b", "two");
    inform({ namespaces: ["one", "two"], timing: { ...quick, deadSeconds: 0.02 } });
    await informer.synced;
    server.forbidden.add("two");
    for (const watch of server.watches) watch.end();
    await until(() => informer.isDeadIn("two"));
    expect([informer.isDeadIn("one"), informer.hasSyncedIn("two"), informer.store.size]).toEqual([false, true, 2]);
    server.storage.delete(collection, "two/b");
    create("c", "two");
    server.forbidden.clear();
    await until(() => !informer.isDeadIn("two") && informer.store.list("two")[0]?.metadata.name === "c");
  });

  it("asks for all namespaces at once where none is given", async () => {
    inform();
    await informer.synced;
    expect([informer.namespaces, informer.watches("any"), informer.hasSyncedIn("any")]).toEqual([[""], true, true]);
    expect([informer.isConnectedIn("any"), informer.isDeadIn("any")]).toEqual([true, false]);
  });

  it("calls a late handler with all objects, and survives one that throws", async () => {
    create("a");
    await inform().synced;
    const late: Change[] = [];
    informer.addHandler(() => {
      throw new Error("broken handler");
    });
    informer.addHandler((change) => late.push(change));
    create("b");
    await until(() => changes.length === 2);
    expect(late).toMatchObject([{ initial: true }, { initial: false }]);
  });

  it("requests metadata only when told so", async () => {
    create("a");
    inform({ metadataOnly: true });
    await informer.synced;
    expect(server.received[0]?.headers.accept).toBe("application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1");
  });
});

describe("Informer.stop", () => {
  const situations: [string, () => void][] = [
    ["while watching", () => {}],
    ["while the server does not answer", () => server.faults.push({ hang: true }, { hang: true })],
    ["while backing off", () => server.faults.push(...Array.from({ length: 1000 }, () => ({ status: 500 })))],
    ["while the kind is absent", () => server.absent.add(collection)],
  ];

  it.each(situations)("leaves nothing behind %s", async (_, arrange) => {
    create("a");
    arrange();
    inform();
    await until(() => server.received.length >= 1);
    await informer.stop();
    const told = changes.length;
    for (const watch of server.watches) watch.event({ type: "MODIFIED", object: thing("a", 5) });
    create("b");
    await until(() => server.watches.size === 0);
    // A request that was on its way when the informer stopped still arrives.
    await sleep(60);
    const requests = server.received.length;
    await sleep(60);
    expect({ requests: server.received.length, changes: changes.length }).toEqual({ requests, changes: told });
  });

  it("rejects what waits for the list", async () => {
    server.faults.push({ hang: true });
    const { synced } = inform();
    await informer.stop();
    await expect(synced).rejects.toThrow("stopped");
  });

  it("closes its connections and logs no problem", async () => {
    await inform().synced;
    await informer.stop();
    expect(log.lines.map(({ message }) => message)).toEqual(["Synced"]);
    await until(() => server.sockets.size === 0);
  });
});
