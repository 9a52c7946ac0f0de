import { describe, expect, test } from "vitest";
import type { Collection } from "../account/collection.ts";
import { Store } from "../runtime/cache/store.ts";
import { silentLogger } from "../runtime/log.ts";
import { VirtualClock } from "../runtime/testing/virtual-clock.ts";
import { Mirror } from "./mirror.ts";
import type { Session, SessionObject } from "./session.ts";
import type { SessionWriter } from "./session-writer.ts";
import { mirrored, session } from "./testing/fake-service.ts";

function scene(given: { sessions?: Session[]; fails?: boolean; objects?: SessionObject[] } = {}, intervalSeconds = 30) {
  const clock = new VirtualClock();
  const calls: string[] = [];
  const account = { sessions: [] as Session[], fails: false, unreadable: false, lists: 0, ...given };
  const store = new Store<SessionObject>();
  for (const object of given.objects ?? []) store.put(object);
  let revision = 10;
  const collection = {
    get hadUnreadable() {
      return account.unreadable;
    },
    async listed() {
      account.lists += 1;
      if (account.fails) throw new Error("503");
    },
    allCached: () => account.sessions,
  } as unknown as Collection;
  const writer = {
    async create({ id, status }: { id: string; status: object }) {
      calls.push(`create ${id}`);
      const object = mirrored(session(id), { resourceVersion: String(++revision) });
      store.put({ ...object, status: { ...status } });
    },
    async delete({ spec }: SessionObject) {
      calls.push(`delete ${spec.id}`);
      if (spec.id === "ts_stuck") throw new Error("forbidden");
    },
  } as unknown as SessionWriter;
  const abort = new AbortController();
  const mirror = new Mirror({ collection, store, writer, intervalSeconds, clock, log: silentLogger });
  const running = mirror.run(abort.signal);
  return { clock, calls, account, store, mirror, abort, running };
}

describe("the mirror", () => {
  test("lists once at the start and once per interval, and writes only what changes", async () => {
    const { clock, calls, account, mirror, abort, running } = scene({ sessions: [session("ts_1")] });
    await clock.advance(0);
    expect({ lists: account.lists, calls, synced: mirror.isSynced }).toEqual({
      lists: 1,
      calls: ["create ts_1"],
      synced: true,
    });
    await clock.advance(300_000);
    expect({ lists: account.lists, calls }).toEqual({ lists: 11, calls: ["create ts_1"] });
    abort.abort();
    await running;
    expect(clock.pending).toBe(0);
  });

  test("deletes nothing when a list fails or has sessions that could not be parsed", async () => {
    const { clock, calls, account, mirror } = scene({ sessions: [session("ts_1"), session("ts_2")] });
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
    expect(mirror.isSynced).toBe(true);
  });

  test("is not synced before a list has succeeded", async () => {
    const { clock, account, mirror } = scene({ fails: true });
    await clock.advance(60_000);
    expect({ synced: mirror.isSynced, lists: account.lists }).toEqual({ synced: false, lists: 3 });
  });

  test("goes on when an object cannot be written", async () => {
    const objects = ["ts_stuck", "ts_2"].map((id, at) => mirrored(session(id), { resourceVersion: String(at) }));
    const { clock, calls } = scene({ objects });
    await clock.advance(0);
    expect(calls.sort()).toEqual(["delete ts_2", "delete ts_stuck"]);
    await clock.advance(30_000);
    expect(calls).toHaveLength(4);
  });

  test("lists nothing when it is disabled, and deletes its objects", async () => {
    const objects = [mirrored(session("ts_1"), { resourceVersion: "1" })];
    const { calls, account, mirror, clock, running } = scene({ objects }, 0);
    await running;
    expect({ lists: account.lists, calls, enabled: mirror.isEnabled }).toEqual({
      lists: 0,
      calls: ["delete ts_1"],
      enabled: false,
    });
    expect(clock.pending).toBe(0);
  });
});
