import { beforeEach, describe, expect, it } from "vitest";
import { callsOptions } from "../../../test/fakes/account/calls.ts";
import { FakeGateway } from "../../../test/fakes/reconcile/fake-gateway.ts";
import { VirtualClock } from "../../../test/fakes/runtime/virtual-clock.ts";
import type { Remote } from "../../gateway/resource.ts";
import { EventSource } from "../../kinds/event-source.ts";
import { EventSubscription } from "../../kinds/event-subscription.ts";
import { Waiting } from "../../objects/reconcile-error.ts";
import type { EntryLocation } from "../../schema/define.ts";
import { roomForAll } from "../requests/list-room.ts";
import { Collection } from "./collection.ts";
import { Entries } from "./entries.ts";
import type { ListDelta } from "./inventory.ts";

const { resource } = EventSubscription;
const request = { lane: "edit" as const, signal: new AbortController().signal };

let clock: VirtualClock;
let gateway: FakeGateway;
let parents: Collection;
let entries: Entries;
let deltas: ListDelta[];
let id: string;

const of = (...types: string[]) => types.map((type) => ({ type }));
const body = (type: string) => ({ subscription_id: id, type });

beforeEach(() => {
  clock = new VirtualClock();
  gateway = new FakeGateway(clock);
  deltas = [];
  const common = { ...callsOptions(clock), client: gateway.asClient() };
  parents = new Collection({ ...common, resource, clock, room: roomForAll(), signal: request.signal });
  const location = EventSource.location as EntryLocation;
  entries = new Entries({ ...common, location, parents, onListDelta: (delta) => deltas.push(delta) });
  id = gateway.seed(resource, { sources: of("a.v0", "b.v0") }).id;
});

describe("entries", () => {
  it("are read from the list of their parents, one list for all", async () => {
    expect(await entries.get(`${id}/a.v0`, request)).toMatchObject({ id: `${id}/a.v0`, type: "a.v0" });
    expect(await entries.get(`${id}/b.v0`, request)).toMatchObject({ subscription_id: id });
    expect(await entries.get(`${id}/c.v0`, request)).toBeUndefined();
    await entries.listed(0, { lane: "sync" });
    expect(entries.allCached().map((row) => row.id)).toEqual([`${id}/a.v0`, `${id}/b.v0`]);
    expect(gateway.takeCalls()).toEqual(["list"]);
  });

  it("are read with their parent when a fresh answer is needed", async () => {
    await entries.listed(0, { lane: "sync" });
    gateway.change(resource, id, { sources: of("c.v0") });
    expect(await entries.read(`${id}/c.v0`, request)).toBeDefined();
    expect(gateway.takeCalls()).toEqual(["list", `get ${id}`]);
  });

  it("are gone when their parent is gone", async () => {
    expect(await entries.get("esb_none/a.v0", request)).toBeUndefined();
    await entries.listed(0, { lane: "sync" });
    expect(entries.isMissing("esb_none/a.v0")).toBe(true);
    expect(entries.isMissing(`${id}/c.v0`)).toBe(false);
  });

  it("are known from answers to own requests without a list", async () => {
    const made = await parents.create({ sources: of("x.v0") }, request);
    gateway.takeCalls();
    expect(await entries.get(`${made.id}/x.v0`, request)).toBeDefined();
    expect(gateway.takeCalls()).toEqual([]);
  });
});

describe("an entry that this process has added or removed", () => {
  beforeEach(async () => {
    await entries.listed(0, { lane: "sync" });
    gateway.takeCalls();
  });

  it("is known at once, and not reported as a change of another client", async () => {
    await entries.admit(request, body("c.v0"));
    const row = await entries.create(body("c.v0"), request);
    expect(row).toMatchObject({ id: `${id}/c.v0`, uri: expect.stringContaining("/sources/c.v0") });
    expect(entries.cached(`${id}/c.v0`)).toEqual(row);
    expect(await entries.delete(`${id}/a.v0`, request)).toBe(true);
    expect(entries.allCached().map((one) => one.id)).toEqual([`${id}/b.v0`, `${id}/c.v0`]);
    expect(deltas).toEqual([]);
    expect(gateway.takeCalls()).toEqual([`createSource ${id}/c.v0`, `deleteSource ${id}/a.v0`]);
  });

  it("is the one that was asked for, whatever the answer calls it", async () => {
    const { createSource } = gateway;
    gateway.createSource = async (...asked) => {
      await createSource(...asked);
      return { type: "b.v0" } as never;
    };
    expect(await entries.create(body("c.v0"), request)).toMatchObject({ id: `${id}/c.v0`, type: "c.v0" });
    expect(entries.allCached().map((one) => one.id)).toEqual([`${id}/a.v0`, `${id}/b.v0`, `${id}/c.v0`]);
  });

  it("is known beside the changes of other clients, which are reported from then on as before", async () => {
    await entries.create(body("c.v0"), request);
    gateway.change(resource, id, { sources: of("c.v0") });
    await clock.advance(1);
    await parents.read(id, request);
    expect(deltas).toEqual([{ changed: [], absent: [`${id}/a.v0`, `${id}/b.v0`] }]);
  });

  it("may be the first of its parent, also if the service shows no list then", async () => {
    const { id: empty } = gateway.seed(resource, {});
    gateway.change(resource, empty, { sources: null });
    await parents.read(empty, request);
    expect(await entries.get(`${empty}/c.v0`, request)).toBeUndefined();
    await entries.create({ subscription_id: empty, type: "c.v0" }, request);
    expect(entries.cached(`${empty}/c.v0`)).toBeDefined();
    expect(deltas).toEqual([]);
  });

  it("counts as removed when it was gone already", async () => {
    gateway.change(resource, id, { sources: of("b.v0") });
    expect(await entries.delete(`${id}/a.v0`, request)).toBe(false);
    expect(entries.cached(`${id}/a.v0`)).toBeUndefined();
  });

  it("is not added when its parent is not in the account", async () => {
    await expect(entries.admit(request, { subscription_id: "esb_none", type: "a.v0" })).rejects.toThrow(Waiting);
    expect(gateway.takeCalls()).toEqual([]);
  });

  it("waits when its parent turns out to be gone", async () => {
    gateway.drop(resource, id);
    await expect(entries.create(body("c.v0"), request)).rejects.toMatchObject({ reason: "ReferenceNotReady" });
    expect(parents.cached(id)).toBeUndefined();
  });

  it("fails when the service refuses it", async () => {
    await expect(entries.create(body("a.v0"), request)).rejects.toMatchObject({ status: 409 });
    gateway.refuse("createSource", 404);
    await expect(entries.create(body("c.v0"), request)).rejects.toMatchObject({ status: 404 });
  });
});

it("a search for an entry reads the list of its parents if that is too old", async () => {
  await entries.listed(0, { lane: "sync" });
  await clock.advance(1);
  gateway.change(resource, id, { sources: of("c.v0") });
  const wanted = (all: () => readonly Remote[]) => all().find((entry) => entry.id === `${id}/c.v0`);
  expect(await entries.search(0, wanted, request)).toBeUndefined();
  expect(await entries.search(clock.now(), wanted, request)).toBeDefined();
});

describe("a change of entries by another client", () => {
  beforeEach(() => entries.listed(0, { lane: "sync" }));

  it("is reported entry by entry, whichever request shows it", async () => {
    gateway.change(resource, id, { sources: of("b.v0", "c.v0") });
    await parents.read(id, request);
    expect(deltas).toEqual([{ changed: [`${id}/c.v0`], absent: [`${id}/a.v0`] }]);
    gateway.change(resource, id, { description: "another" });
    await clock.advance(1);
    await parents.listed(clock.now(), { lane: "sync" });
    expect(deltas).toHaveLength(1);
  });

  it("includes all entries when the parent is gone", async () => {
    gateway.drop(resource, id);
    await clock.advance(1);
    await parents.listed(clock.now(), { lane: "sync" });
    expect(deltas).toEqual([{ changed: [], absent: [`${id}/a.v0`, `${id}/b.v0`] }]);
  });
});
