import { beforeEach, describe, expect, it } from "vitest";
import { collectionOf } from "../../../test/fakes/account/calls.ts";
import { FakeGateway } from "../../../test/fakes/reconcile/fake-gateway.ts";
import { VirtualClock } from "../../../test/fakes/runtime/virtual-clock.ts";
import { ipPolicies } from "../../gateway/resources/index.ts";
import { ListRoom } from "../requests/list-room.ts";
import type { Collection } from "./collection.ts";

const request = { lane: "edit" as const, signal: new AbortController().signal };
/** In it, what is read one by one takes half. */
const ROOM = 16 * 1024 * 1024;
const large = "x".repeat(1_000_000);

let clock: VirtualClock;
let gateway: FakeGateway;
let room: ListRoom;
let end: AbortController;
let collection: Collection;
let ids: readonly string[];

const open = () => collectionOf({ clock, gateway }, ipPolicies, { room, signal: end.signal });
const fill = (metadata: string) => {
  for (const id of ids) gateway.change(ipPolicies, id, { metadata });
};
const read = (id = "") => collection.read(id, request);
/** Reads them all. Resolves with the ids of those that had room. */
async function readAll(): Promise<string[]> {
  const answers = await Promise.allSettled(ids.map(read));
  return ids.filter((_, index) => answers[index]?.status === "fulfilled");
}
async function list(): Promise<void> {
  await clock.advance(1);
  await collection.listed(clock.now(), request);
}

beforeEach(async () => {
  clock = new VirtualClock();
  gateway = new FakeGateway(clock);
  room = new ListRoom({ bytes: ROOM, way: "Do this" });
  end = new AbortController();
  ids = Array.from({ length: 1000 }, () => gateway.seed(ipPolicies, { metadata: "" }).id);
  collection = open();
  await list();
});

describe("of many remotes that were small in the list and are large now", () => {
  it("keeps as much as there is room for, and the others say why", async () => {
    fill(large);
    expect(await readAll()).toHaveLength(8);
    expect(JSON.stringify(collection.allCached()).length).toBeLessThan(ROOM);
    await expect(read(ids.at(-1))).rejects.toMatchObject({
      reason: "UnexpectedResponse",
      message: "Do this: there is no room for each IP policy that is read by itself",
    });
  });

  it("reads again what it keeps", async () => {
    fill(large);
    for (const id of await readAll()) expect(await read(id)).toMatchObject({ metadata: large });
  });

  it("has room again for each that is gone, or short again", async () => {
    fill(large);
    const [gone = "", short = ""] = await readAll();
    gateway.drop(ipPolicies, gone);
    expect(await read(gone)).toBeUndefined();
    expect(await read(ids.at(-1))).toMatchObject({ metadata: large });
    await expect(read(ids.at(-2))).rejects.toThrow("there is no room");
    gateway.change(ipPolicies, short, { metadata: "" });
    await read(short);
    expect(await read(ids.at(-2))).toMatchObject({ metadata: large });
  });

  it("has room again after a list, which counts what it shows", async () => {
    fill(large);
    await readAll();
    fill("");
    await list();
    gateway.change(ipPolicies, ids[999] ?? "", { metadata: large });
    expect(await read(ids[999])).toMatchObject({ metadata: large });
  });

  it("keeps what lists leave out", async () => {
    gateway.unlisted.add("metadata");
    await list();
    fill(large);
    const kept = await readAll();
    await list();
    expect(collection.cached(kept[0] ?? "")).toMatchObject({ metadata: large });
    await expect(read(ids.at(-1))).rejects.toThrow("there is no room");
  });

  it("gives the room back when the account is no longer used", async () => {
    fill(large);
    await readAll();
    end.abort();
    end = new AbortController();
    collection = open();
    expect(await readAll()).toHaveLength(8);
  });
});

it("counts what a list has counted only once", async () => {
  ids = ids.slice(0, 7);
  fill(large);
  for (let round = 0; round < 3; round += 1) {
    await list();
    expect(await readAll()).toHaveLength(7);
  }
});

it("refuses the answer to no change, and counts it", async () => {
  for (const id of ids.slice(0, 20)) await collection.update(id, { metadata: large }, request);
  expect(collection.cached(ids[19] ?? "")).toMatchObject({ metadata: large });
  gateway.change(ipPolicies, ids[20] ?? "", { metadata: large });
  await expect(read(ids[20])).rejects.toThrow("there is no room");
});
