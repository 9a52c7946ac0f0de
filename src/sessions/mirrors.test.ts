import { describe, expect, test } from "vitest";
import { VirtualClock } from "../../test/fakes/runtime/virtual-clock.ts";
import { mirrored, session } from "../../test/fakes/sessions/fake-service.ts";
import type { Collection } from "../account/remotes/collection.ts";
import { Store } from "../runtime/cache/store.ts";
import { silentLogger } from "../runtime/log.ts";
import type { MirrorSource } from "./mirror.ts";
import { Mirrors } from "./mirrors.ts";
import type { MirrorPlan } from "./plan.ts";
import type { MirrorScope, Session, SessionObject } from "./session.ts";
import type { SessionWriter } from "./session-writer.ts";

const own = { namespace: "gateway" };

function scene(
  given: {
    sessions?: Session[];
    fails?: boolean;
    objects?: SessionObject[];
    elsewhere?: MirrorScope[];
    /** Namespaces of which nothing can be read. */
    unread?: Set<string>;
  } = {},
  intervalSeconds = 30,
) {
  const clock = new VirtualClock();
  const calls: string[] = [];
  const account = {
    sessions: [] as Session[],
    fails: false,
    unreadable: false,
    isUnknown: false,
    lists: [] as number[],
    /** What the list lacks although it had several pages. */
    hidden: [] as Session[],
    /** That of another account, to which the key leads by now. */
    collection: undefined as Collection | undefined,
    ...given,
  };
  const store = new Store<SessionObject>();
  for (const object of given.objects ?? []) store.put(object);
  let revision = 10;
  const collection = {
    list: {
      get hadUnreadable() {
        return account.unreadable;
      },
      async listedSurely(since: number) {
        if (since <= (account.lists.at(-1) ?? Number.NEGATIVE_INFINITY)) return;
        account.lists.push(clock.now());
        if (account.fails) throw new Error("503");
      },
    },
    get hidden() {
      return account.hidden;
    },
    allCached: () => account.sessions,
  } as unknown as Collection;
  const writer = {
    async create(namespace: string, { id, status, labels }: MirrorPlan["create"][number]) {
      calls.push(`create ${id}${namespace === own.namespace ? "" : ` in ${namespace}`}`);
      const name = labels["tunnelgateway.dev/account"];
      const object = mirrored(session(id), { namespace, labels, resourceVersion: String(++revision) }, name);
      store.put({ ...object, status: { ...status } });
    },
    async delete({ spec }: SessionObject) {
      calls.push(`delete ${spec.id}`);
      if (spec.id === "ts_stuck") throw new Error("forbidden");
    },
  } as unknown as SessionWriter;
  const abort = new AbortController();
  const open: MirrorSource["open"] = async () => {
    if (account.isUnknown) throw new Error("the key cannot be read");
    return { collection: () => account.collection ?? collection };
  };
  const sources: MirrorSource[] = [{ ...own, open }];
  const mirrors = new Mirrors({
    store,
    writer,
    intervalSeconds,
    clock,
    log: silentLogger,
    ownNamespace: own.namespace,
    sources: () => sources,
    shownByOthers: () => given.elsewhere ?? [],
    isRead: (namespace) => !given.unread?.has(namespace),
  });
  const running = mirrors.run(abort.signal);
  return { clock, calls, account, store, sources, mirrors, abort, running, open, collection };
}

describe("a mirror", () => {
  test("lists once at the start and once per interval, and writes only what changes", async () => {
    const { clock, calls, account, mirrors, abort, running, collection } = scene({ sessions: [session("ts_1")] });
    await clock.advance(0);
    expect({ lists: account.lists.length, calls, synced: mirrors.isSynced(own, collection) }).toEqual({
      lists: 1,
      calls: ["create ts_1"],
      synced: true,
    });
    await clock.advance(300_000);
    expect({ lists: account.lists.length, calls }).toEqual({ lists: 11, calls: ["create ts_1"] });
    abort.abort();
    await running;
    expect(clock.pending).toBe(0);
  });

  test("deletes nothing when a list fails or has sessions that could not be parsed", async () => {
    const { clock, calls, account, mirrors, collection } = scene({ sessions: [session("ts_1"), session("ts_2")] });
    await clock.advance(0);
    account.sessions = [session("ts_2")];
    account.fails = true;
    await clock.advance(30_000);
    account.fails = false;
    account.unreadable = true;
    await clock.advance(30_000);
    expect(calls).toEqual(["create ts_1", "create ts_2"]);
    account.unreadable = false;
    await clock.advance(30_000);
    expect(calls.at(-1)).toBe("delete ts_1");
    expect(mirrors.isSynced(own, collection)).toBe(true);
  });

  test("keeps the object of a session that a list of several pages may have skipped", async () => {
    const { clock, calls, account } = scene({ sessions: [session("ts_1"), session("ts_2")] });
    await clock.advance(0);
    account.sessions = [session("ts_2")];
    account.hidden = [session("ts_1")];
    await clock.advance(30_000);
    expect(calls).toEqual(["create ts_1", "create ts_2"]);
    account.hidden = [];
    await clock.advance(30_000);
    expect(calls.at(-1)).toBe("delete ts_1");
  });

  test("is not synced with another account, to which the key leads by now, before that is listed", async () => {
    const { clock, account, collection, mirrors } = scene({ sessions: [session("ts_1")] });
    await clock.advance(0);
    const other = {
      ...collection,
      allCached: () => [session("ts_2")],
      list: { listedSurely: async () => {} },
    } as unknown as Collection;
    account.collection = other;
    expect(mirrors.isSynced(own, other)).toBe(false);
    await clock.advance(30_000);
    expect([collection, other].map((one) => mirrors.isSynced(own, one))).toEqual([false, true]);
  });

  test("is not synced before a list has succeeded", async () => {
    const { clock, account, mirrors, collection } = scene({ fails: true });
    await clock.advance(60_000);
    expect({ synced: mirrors.isSynced(own, collection), lists: account.lists.length }).toEqual({
      synced: false,
      lists: 3,
    });
  });

  test("continues when an object cannot be written", async () => {
    const objects = ["ts_stuck", "ts_2"].map((id, at) => mirrored(session(id), { resourceVersion: String(at) }));
    const { clock, calls } = scene({ objects });
    await clock.advance(0);
    expect(calls.sort()).toEqual(["delete ts_2", "delete ts_stuck"]);
    await clock.advance(30_000);
    expect(calls).toHaveLength(4);
  });

  test("lists nothing when it is disabled, and deletes its objects", async () => {
    const objects = [mirrored(session("ts_1"), { resourceVersion: "1" })];
    const { calls, account, mirrors, clock, abort, running } = scene({ objects }, 0);
    await clock.advance(300_000);
    abort.abort();
    await running;
    expect({ lists: account.lists.length, first: calls[0], enabled: mirrors.isEnabled }).toEqual({
      lists: 0,
      first: "delete ts_1",
      enabled: false,
    });
    expect(clock.pending).toBe(0);
  });
});

describe("several mirrors", () => {
  const blue = { namespace: "team", account: "blue" };

  test("of one account share its lists, and an account that is not known delays no other", async () => {
    const { clock, calls, account, sources, open, mirrors, collection } = scene({ sessions: [session("ts_1")] });
    await clock.advance(10_000);
    sources.push({ ...blue, open });
    await clock.advance(290_000);
    expect(calls).toEqual(["create ts_1", "create ts_1 in team"]);
    expect(account.lists).toHaveLength(11);
    sources.push({ ...blue, account: "green", open: () => new Promise(() => {}) });
    await clock.advance(300_000);
    expect(account.lists).toHaveLength(21);
    expect([own, blue, { ...blue, account: "green" }].map((one) => mirrors.isSynced(one, collection))).toEqual([
      true,
      true,
      false,
    ]);
  });

  test("end alone, including those that the previous process has left", async () => {
    const left = mirrored(session("ts_9"), { namespace: "team", resourceVersion: "2" }, "red");
    const labels = { ...left.metadata.labels, "tunnelgateway.dev/account": "red" };
    const foreign = mirrored(session("ts_8"), { namespace: "elsewhere", resourceVersion: "3" });
    const objects = [{ ...left, metadata: { ...left.metadata, labels } }, foreign];
    const { clock, calls, account, sources, open } = scene({ sessions: [session("ts_1")], objects });
    sources.push({ ...blue, open });
    await clock.advance(0);
    expect(calls).toEqual(["delete ts_9", "create ts_1"]);
    await clock.advance(30_000);
    expect(calls.slice(2)).toContain("create ts_1 in team");
    calls.length = 0;
    sources.pop();
    await clock.advance(30_000);
    expect(calls.filter((call) => call === "delete ts_1")).toHaveLength(1);
    expect(account.lists).toHaveLength(3);
  });

  test("of another installation keep their objects", async () => {
    const of = (id: string, account: string) =>
      mirrored(session(id), { namespace: "team", resourceVersion: "2" }, account);
    const objects = [of("ts_2", "blue"), of("ts_3", "red")];
    const { clock, calls } = scene({ objects, elsewhere: [blue] });
    await clock.advance(0);
    expect(calls).toEqual(["delete ts_3"]);
  });

  test("write and delete nothing in a namespace that cannot be read, and begin when it can", async () => {
    const left = mirrored(session("ts_9"), { namespace: "team", resourceVersion: "2" }, "red");
    const unread = new Set(["team"]);
    const { clock, calls, sources, open } = scene({ sessions: [session("ts_1")], objects: [left], unread });
    sources.push({ ...blue, open });
    await clock.advance(90_000);
    expect(calls).toEqual(["create ts_1"]);
    unread.clear();
    await clock.advance(30_000);
    expect(calls.slice(1).sort()).toEqual(["create ts_1 in team", "delete ts_9"]);
  });

  test("keep their objects while their account is not known", async () => {
    const { clock, calls, account, mirrors, collection } = scene({ sessions: [session("ts_1")] });
    account.isUnknown = true;
    await clock.advance(90_000);
    expect({ calls, synced: mirrors.isSynced(own, collection) }).toEqual({ calls: ["create ts_1"], synced: true });
  });
});
