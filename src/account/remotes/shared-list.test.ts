import { beforeEach, describe, expect, it } from "vitest";
import { collectionOf } from "../../../test/fakes/account/calls.ts";
import { FakeGateway } from "../../../test/fakes/reconcile/fake-gateway.ts";
import { VirtualClock } from "../../../test/fakes/runtime/virtual-clock.ts";
import { GatewayError } from "../../gateway/errors.ts";
import type { Remote } from "../../gateway/resource.ts";
import { ipPolicies } from "../../gateway/resources/index.ts";
import { CircuitBreaker } from "../requests/circuit-breaker.ts";
import { RequestBudget } from "../requests/request-budget.ts";
import { Turns } from "../requests/turns.ts";
import type { CollectionOptions } from "./collection-options.ts";
import type { ListDelta } from "./inventory.ts";

let clock: VirtualClock;
let gateway: FakeGateway;
let deltas: ListDelta[];

beforeEach(() => {
  clock = new VirtualClock();
  gateway = new FakeGateway(clock);
  deltas = [];
});

const of = (resource: CollectionOptions["resource"], more: Partial<CollectionOptions> = {}) =>
  collectionOf({ clock, gateway }, resource, { onListDelta: (delta) => deltas.push(delta), ...more });

const request = { lane: "edit" as const, signal: new AbortController().signal };

describe("a list", () => {
  it("is read page by page, to the end", async () => {
    gateway.pageSize = 2;
    for (let count = 0; count < 5; count += 1) gateway.seed(ipPolicies, {});
    const collection = of(ipPolicies);
    await collection.listed(0, { lane: "sync" });
    expect(collection.allCached()).toHaveLength(5);
    expect(gateway.takeCalls()).toEqual(["list", "list", "list"]);
  });

  it("needs no listener", async () => {
    gateway.seed(ipPolicies, {});
    const collection = collectionOf({ clock, gateway }, ipPolicies, {});
    await collection.listed(0, { lane: "sync" });
    expect(collection.allCached()).toHaveLength(1);
  });

  it("is shared by all callers while it is under way", async () => {
    const collection = of(ipPolicies);
    await Promise.all([
      collection.listed(0, { lane: "edit" }),
      collection.listed(0, { lane: "sync" }),
      collection.get("ipp_1", request),
    ]);
    expect(gateway.takeCalls()).toEqual(["list", "get ipp_1"]);
  });

  it("is not requested again for a caller that accepts an older list", async () => {
    const collection = of(ipPolicies);
    await collection.listed(clock.now(), { lane: "sync" });
    await clock.advance(1000);
    await collection.listed(clock.now() - 1000, { lane: "sync" });
    expect(gateway.takeCalls()).toEqual(["list"]);
    await collection.listed(clock.now(), { lane: "sync" });
    expect(gateway.takeCalls()).toEqual(["list"]);
  });

  it("that began too early is followed by another one, which later callers share", async () => {
    const collection = of(ipPolicies);
    const early = collection.listed(0, { lane: "sync" });
    await clock.advance(0);
    const since = clock.now() + 1;
    clock.setTimeout(() => {}, 1);
    const late = clock
      .advance(1)
      .then(() =>
        Promise.all([collection.listed(since, { lane: "edit" }), collection.listed(since, { lane: "edit" })]),
      );
    await Promise.all([early, late]);
    expect(gateway.takeCalls()).toEqual(["list", "list"]);
  });

  it("that fails is requested again by the next caller", async () => {
    const collection = of(ipPolicies);
    gateway.refuse("list", 503);
    await expect(collection.listed(0, { lane: "sync" })).rejects.toMatchObject({ status: 503 });
    expect(collection.listedAt).toBeUndefined();
    await collection.listed(0, { lane: "sync" });
    expect(collection.listedAt).toBe(0);
  });

  it("reports what has changed", async () => {
    const collection = of(ipPolicies);
    const [kept, gone] = [gateway.seed(ipPolicies, {}), gateway.seed(ipPolicies, {})];
    await collection.listed(0, { lane: "sync" });
    await clock.advance(1);
    gateway.change(ipPolicies, kept.id, { description: "new" });
    gateway.drop(ipPolicies, gone.id);
    await collection.listed(1, { lane: "sync" });
    expect(deltas).toEqual([
      { changed: [], absent: [] },
      { changed: [kept.id], absent: [gone.id] },
    ]);
  });

  it("pauses the budget when the service answers 429", async () => {
    const budget = new RequestBudget({ perMinute: 0, clock });
    const collection = of(ipPolicies, { turns: new Turns(budget, clock) });
    gateway.refuse("list", 429, { retryAfterSeconds: 9 });
    await expect(collection.listed(0, { lane: "sync" })).rejects.toMatchObject({ status: 429 });
    const next = collection.listed(0, { lane: "sync" });
    await clock.advance(8999);
    expect(gateway.takeCalls()).toEqual(["list"]);
    await clock.advance(1);
    await next;
  });
});

describe("a list that is out of date", () => {
  const lists = () => gateway.takeCalls().filter((call) => call === "list").length;

  it("is read again, once, and an earlier date that becomes known later changes nothing", async () => {
    const collection = of(ipPolicies);
    await collection.listed(0, request);
    await clock.advance(10);
    collection.invalidateList();
    collection.invalidateList(0);
    await clock.advance(10);
    expect(lists()).toBe(1);
    await collection.listed(0, request);
    await collection.listed(0, request);
    expect(lists()).toBe(1);
  });

  it("does not help to prove an absence", async () => {
    gateway.pageSize = 1;
    for (let count = 0; count < 2; count += 1) gateway.seed(ipPolicies, {});
    const collection = of(ipPolicies);
    await collection.listed(0, request);
    await clock.advance(10);
    collection.invalidateList();
    await clock.advance(10);
    gateway.takeCalls();
    const wanted = (all: () => readonly Remote[]) => all().find(({ description }) => description === "wanted");
    expect(await collection.search(0, wanted, request)).toBeUndefined();
    expect(lists()).toBe(4);
  });

  it("is what a read leaves that does not find a listed remote, as others may be gone with it", async () => {
    const collection = of(ipPolicies);
    const [gone, goneWithIt] = [gateway.seed(ipPolicies, {}), gateway.seed(ipPolicies, {})];
    await collection.listed(0, request);
    await clock.advance(10);
    for (const { id } of [gone, goneWithIt]) gateway.drop(ipPolicies, id);
    await collection.read(gone.id, request);
    await collection.listed(0, request);
    expect(collection.cached(goneWithIt.id)).toBeUndefined();
    gateway.takeCalls();
    await clock.advance(10);
    await collection.read("ipp_unknown", request);
    await collection.listed(0, request);
    expect(lists()).toBe(0);
  });
});

it("a list that began too early for a caller does not fail the caller when it fails", async () => {
  const held = Promise.withResolvers<void>();
  gateway.list = async function* (...given) {
    await held.promise;
    yield* FakeGateway.prototype.list.apply(gateway, given);
  };
  const collection = of(ipPolicies);
  const early = collection.listed(0, request).catch(({ status }) => status);
  await clock.advance(1);
  const late = collection.listed(1, request);
  gateway.refuse("list", 503);
  held.resolve();
  expect(await early).toBe(503);
  await late;
  expect(collection.listedAt).toBe(1);
});

describe("a first list", () => {
  it("with several pages is read twice before it counts alone, and one with a single page once", async () => {
    for (let count = 0; count < 2; count += 1) gateway.seed(ipPolicies, {});
    const [short, long] = [of(ipPolicies), of(ipPolicies)];
    await short.list.listedSurely(0, request);
    expect(gateway.takeCalls()).toEqual(["list"]);
    gateway.pageSize = 1;
    await long.list.listedSurely(0, request);
    expect(gateway.takeCalls()).toEqual(["list", "list", "list", "list"]);
    await long.list.listedSurely(0, request);
    expect(gateway.takeCalls()).toEqual([]);
  });
});

it("a row that cannot be read removes nothing, and the list says so whichever page has it", async () => {
  const [first, second] = [gateway.seed(ipPolicies, {}), gateway.seed(ipPolicies, {})];
  gateway.pageSize = 1;
  for (const { id } of [first, second]) {
    gateway.unreadable.clear();
    const collection = of(ipPolicies);
    await collection.listed(0, request);
    expect(collection.list.hadUnreadable).toBe(false);
    gateway.unreadable.add(id);
    await clock.advance(1);
    await collection.listed(clock.now(), request);
    expect(collection.list.hadUnreadable).toBe(true);
    expect(collection.cached(id)).toMatchObject({ id });
  }
});

it("a probe is sent although the breaker is open, and closes it", async () => {
  const breaker = new CircuitBreaker({ clock });
  const collection = of(ipPolicies, { breaker });
  breaker.failed(new GatewayError({ kind: "refused", status: 401, method: "GET", route: "/", problem: "no" }));
  await clock.advance(2000);
  await collection.list.probe(request);
  expect(gateway.takeCalls()).toEqual(["list"]);
  expect(breaker.problem).toBeUndefined();
});
