import { beforeEach, describe, expect, it, vi } from "vitest";
import { callsOptions, collectionOf } from "../../../test/fakes/account/calls.ts";
import { FakeGateway } from "../../../test/fakes/reconcile/fake-gateway.ts";
import { Scene } from "../../../test/fakes/reconcile/scene.ts";
import { VirtualClock } from "../../../test/fakes/runtime/virtual-clock.ts";
import type { Remote } from "../../gateway/resource.ts";
import { eventDestinations, ipPolicies, tcpEdgePolicy, tcpEdges } from "../../gateway/resources/index.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import type { Source } from "../../objects/evidence.ts";
import { CircuitBreaker } from "../requests/circuit-breaker.ts";
import { RequestBudget } from "../requests/request-budget.ts";
import { Turns } from "../requests/turns.ts";
import type { Collection } from "./collection.ts";
import type { CollectionOptions } from "./collection-options.ts";
import { Inventory, type ListDelta } from "./inventory.ts";

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

describe("a GET that is answered after a list that began later", () => {
  async function readBesideList(unlisted: readonly string[]): Promise<[Remote | undefined, Collection]> {
    for (const member of unlisted) gateway.unlisted.add(member);
    const { id } = gateway.seed(ipPolicies, { description: "old", metadata: "mark" });
    let answer = () => {};
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const { get } = gateway;
    gateway.get = async (resource, wanted) => {
      const remote = await get(resource, wanted);
      await held;
      return remote;
    };
    const collection = of(ipPolicies);
    const read = collection.read(id, request);
    await clock.advance(1);
    gateway.change(ipPolicies, id, { description: "new" });
    await collection.listed(clock.now(), { lane: "sync" });
    answer();
    return [await read, collection];
  }

  it("tells the metadata that the list left out, and nothing else", async () => {
    const [remote, collection] = await readBesideList(["metadata"]);
    expect(remote).toMatchObject({ description: "new", metadata: "mark" });
    expect(collection.markedFor("nobody")).toEqual([]);
    expect([
      collection.marks?.isUnknown(remote?.id ?? "") === true,
      collection.marks?.isStale(remote?.id ?? "") === true,
    ]).toEqual([false, true]);
  });

  it("changes nothing of what the list showed", async () => {
    const [remote, collection] = await readBesideList([]);
    expect(remote).toBe(collection.cached(remote?.id ?? ""));
    expect(remote).toMatchObject({ description: "new", metadata: "mark" });
  });
});

describe("a resource", () => {
  it("is known from the list", async () => {
    const { id } = gateway.seed(ipPolicies, {});
    const collection = of(ipPolicies);
    expect(await collection.get(id, request)).toMatchObject({ id });
    expect(await collection.get(id, request)).toMatchObject({ id });
    expect(gateway.takeCalls()).toEqual(["list"]);
  });

  it("is read when the list lacks it, and gone only after a 404", async () => {
    const collection = of(ipPolicies);
    expect(await collection.get("ipp_404", request)).toBeUndefined();
    expect(gateway.takeCalls()).toEqual(["list", "get ipp_404"]);
    gateway.refuse("get", 500);
    await expect(collection.get("ipp_404", request)).rejects.toMatchObject({ status: 500 });
  });

  it("is read without a list when the caller asks for a fresh answer", async () => {
    const { id } = gateway.seed(ipPolicies, {});
    const collection = of(ipPolicies);
    await collection.read(id, request);
    expect(gateway.takeCalls()).toEqual([`get ${id}`]);
    expect(collection.cached(id)).toMatchObject({ id });
  });

  it("is answered, and not kept, when a list that began after the read lacks it", async () => {
    const { id } = gateway.seed(ipPolicies, {});
    const collection = of(ipPolicies);
    const arrival = Promise.withResolvers<void>();
    const { get } = gateway;
    gateway.get = async (...given) => {
      const answer = await get(...given);
      await arrival.promise;
      return answer;
    };
    const reading = collection.read(id, request);
    await clock.advance(1);
    gateway.drop(ipPolicies, id);
    await collection.listed(clock.now(), request);
    arrival.resolve();
    expect(await reading).toMatchObject({ id });
    expect(collection.cached(id)).toBeUndefined();
  });

  it("is forgotten when a read does not find it", async () => {
    const { id } = gateway.seed(ipPolicies, {});
    const collection = of(ipPolicies);
    await collection.get(id, request);
    gateway.drop(ipPolicies, id);
    expect(await collection.read(id, request)).toBeUndefined();
    expect(collection.cached(id)).toBeUndefined();
  });

  it("is not forgotten after a 404 while the key of that request is not proved", async () => {
    const { id } = gateway.seed(ipPolicies, {});
    const recorded = new Map<Source, Set<string>>();
    const { keyProof } = callsOptions(clock, { recorded: () => recorded });
    const collection = of(ipPolicies, { keyProof });
    keyProof.use("strange");
    await collection.read(id, request);
    gateway.drop(ipPolicies, id);
    recorded.set(tcpEdges, new Set(["edgtcp_1"]));
    await expect(collection.read(id, request)).rejects.toThrow("Check the API key");
    expect(collection.cached(id)).toBeDefined();
  });

  it("is known from each answer", async () => {
    const collection = of(ipPolicies);
    const { id } = await collection.create({ description: "a" }, request);
    expect(collection.cached(id)).toMatchObject({ description: "a" });
    await collection.update(id, { description: "b" }, request);
    expect(collection.cached(id)).toMatchObject({ description: "b" });
    await collection.delete(id, request);
    expect(collection.cached(id)).toBeUndefined();
  });

  it("sends a DELETE for a remote that is unknown", async () => {
    await of(ipPolicies).delete("ipp_404", request);
    expect(gateway.takeCalls()).toEqual(["delete ipp_404"]);
  });

  it("forgets a module that was removed", async () => {
    const { id } = gateway.seed(tcpEdges, { policy: { enabled: true } });
    const collection = of(tcpEdges);
    await collection.get(id, request);
    await collection.deleteModule(id, "policy", tcpEdgePolicy, request);
    expect(collection.cached(id)).toMatchObject({ policy: null });
  });

  it("is kept without the secrets that the service returns", async () => {
    const collection = of(eventDestinations);
    gateway.normalise = (row) => ({ ...row, target: { monitoring: { api_key: "hush", ddtags: "a" } } });
    const { id } = await collection.create({ format: "json" }, request);
    expect(collection.cached(id)).toMatchObject({ target: { monitoring: { ddtags: "a" } } });
    expect(JSON.stringify(collection.allCached())).not.toContain("hush");
    await clock.advance(1);
    await collection.listed(1, { lane: "sync" });
    expect(JSON.stringify(collection.allCached())).not.toContain("hush");
  });
});

it("a search reads each row that the latest list may have skipped, and takes the first that exists", async () => {
  gateway.pageSize = 1;
  const [gone, back] = [gateway.seed(ipPolicies, {}), gateway.seed(ipPolicies, {})];
  for (let count = 0; count < 2; count += 1) gateway.seed(ipPolicies, {});
  const collection = of(ipPolicies);
  await collection.listed(0, { lane: "sync" });
  for (const { id } of [gone, back]) gateway.drop(ipPolicies, id);
  await clock.advance(1);
  await collection.listed(1, { lane: "sync" });
  gateway.put(ipPolicies, back);
  gateway.takeCalls();
  const either = async (all: () => readonly Remote[]) =>
    [gone, back].flatMap((wanted) => all().find(({ id }) => id === wanted.id) ?? [])[0];
  const found = await collection.search(1, either, request);
  expect(found).toEqual(back);
  expect(gateway.takeCalls()).toEqual([`get ${gone.id}`, `get ${back.id}`]);
});

describe("a change by other credentials of this process", () => {
  const others = { id: "ipp_9", description: "other" };

  it("updates a remote that is known", async () => {
    const [changed, deleted] = [gateway.seed(ipPolicies, {}), gateway.seed(ipPolicies, {})];
    const collection = of(ipPolicies);
    await collection.listed(0, { lane: "sync" });
    collection.learn(changed.id, { ...changed, description: "new" });
    collection.learn(deleted.id, undefined);
    expect(collection.allCached()).toEqual([{ ...changed, description: "new" }]);
    expect(collection.isMissing(deleted.id)).toBe(false);
  });

  it("neither adds a remote that no answer has shown, nor makes it missing", async () => {
    const collection = of(ipPolicies);
    await collection.listed(0, { lane: "sync" });
    expect(collection.isMissing(others.id)).toBe(true);
    collection.learn(others.id, undefined);
    expect(collection.isMissing(others.id)).toBe(true);
    collection.learn(others.id, others);
    expect(collection.isMissing(others.id)).toBe(false);
    expect(collection.cached(others.id)).toBeUndefined();
    gateway.takeCalls();
    await collection.listed(0, { lane: "sync" });
    expect(gateway.takeCalls()).toEqual([]);
  });

  it.each([
    ["created", others],
    ["deleted", undefined],
  ])("makes another list necessary when the remote was %s during a list", async (_, after) => {
    const budget = new RequestBudget({ perMinute: 0, clock });
    const collection = of(ipPolicies, { turns: new Turns(budget, clock) });
    for (let count = 0; count < 2; count += 1) gateway.seed(ipPolicies, {});
    gateway.pageSize = 1;
    gateway.beforeCall = () => budget.pauseAfter429(1);
    const first = collection.listed(0, { lane: "sync" });
    await clock.advance(500);
    gateway.beforeCall = () => {};
    collection.learn(others.id, after);
    await clock.advance(500);
    await first;
    expect(gateway.takeCalls()).toEqual(["list", "list"]);
    await collection.listed(0, { lane: "sync" });
    expect(gateway.takeCalls()).toEqual(["list", "list"]);
  });
});

describe("getSince", () => {
  it("takes an answer that is recent enough", async () => {
    const { id } = gateway.seed(ipPolicies, {});
    const collection = of(ipPolicies);
    await collection.get(id, request);
    gateway.takeCalls();
    await clock.advance(1000);
    await collection.getSince(id, 0, 1, request);
    expect(gateway.takeCalls()).toEqual([]);
  });

  it("takes the answer of a read, although the list is older", async () => {
    for (let count = 0; count < 250; count += 1) gateway.seed(ipPolicies, {});
    const collection = of(ipPolicies);
    await collection.listed(0, { lane: "sync" });
    await clock.advance(1000);
    await collection.read("ipp_1", request);
    gateway.takeCalls();
    expect(await collection.getSince("ipp_1", 1000, 1, request)).toMatchObject({ id: "ipp_1" });
    expect(gateway.takeCalls()).toEqual([]);
  });

  it("reads one remote, or lists all when that takes fewer requests", async () => {
    for (let count = 0; count < 250; count += 1) gateway.seed(ipPolicies, {});
    const collection = of(ipPolicies);
    await collection.listed(0, { lane: "sync" });
    gateway.takeCalls();
    await clock.advance(1000);
    await collection.getSince("ipp_1", 1000, 2, request);
    expect(gateway.takeCalls()).toEqual(["get ipp_1"]);
    await collection.getSince("ipp_2", 1000, 3, request);
    await collection.getSince("ipp_3", 1000, 3, request);
    expect(gateway.takeCalls()).toEqual(["list", "list", "list"]);
  });
});

describe("a key that is refused", () => {
  it("fails requests at once, even while none may be sent", async () => {
    const budget = new RequestBudget({ perMinute: 0, clock });
    const collection = of(ipPolicies, { turns: new Turns(budget, clock) });
    gateway.refuse("get", 401);
    await expect(collection.read("ipp_1", request)).rejects.toMatchObject({ status: 401 });
    budget.pauseAfter429(30);
    let status: unknown;
    collection.read("ipp_1", request).catch((error) => {
      ({ status } = error);
    });
    await clock.advance(0);
    expect(status).toBe(401);
  });

  it("is not sent again by requests that waited for their turn meanwhile", async () => {
    const budget = new RequestBudget({ perMinute: 60, clock });
    const collection = of(ipPolicies, { turns: new Turns(budget, clock) });
    const { id } = gateway.seed(ipPolicies, {});
    for (let count = 0; count < 12; count += 1) gateway.refuse("get", 401);
    const answers = Array.from({ length: 40 }, () => collection.read(id, request).catch(({ status }) => status));
    const all = Promise.all(answers);
    await clock.advance(60_000);
    expect(await all).toEqual(Array.from({ length: 40 }, () => 401));
    expect(gateway.takeCalls()).toHaveLength(12);
  });
});

describe("a process that does not lead", () => {
  class NotLeading extends Error {}
  let leads: boolean;
  const assertMaySend = () => {
    if (!leads) throw new NotLeading();
  };

  it("sends no request", async () => {
    leads = false;
    const { id } = gateway.seed(tcpEdges, {});
    const collection = of(tcpEdges, { assertMaySend });
    await expect(collection.listed(0, { lane: "sync" })).rejects.toThrow(NotLeading);
    await expect(collection.read(id, request)).rejects.toThrow(NotLeading);
    await expect(collection.list.probe(request)).rejects.toThrow(NotLeading);
    await expect(collection.create({}, request)).rejects.toThrow(NotLeading);
    await expect(collection.update(id, { description: "a" }, request)).rejects.toThrow(NotLeading);
    await expect(collection.delete(id, request)).rejects.toThrow(NotLeading);
    await expect(collection.deleteModule(id, "policy", tcpEdgePolicy, request)).rejects.toThrow(NotLeading);
    expect(gateway.takeCalls()).toEqual([]);
  });

  it("does not record a failure of the service when the lease was lost before the request was written", async () => {
    const breaker = new CircuitBreaker({ clock });
    const loses = () => {
      assertMaySend();
      leads = false;
    };
    const collection = of(tcpEdges, { assertMaySend: loses, breaker });
    for (let times = 0; times < 10; times += 1) {
      leads = true;
      gateway.swallow("create", "unsent");
      await expect(collection.create({}, request)).rejects.toThrow(NotLeading);
    }
    expect(breaker.problem).toBeUndefined();
  });
});

it("reconciling one object does not read the whole inventory", async () => {
  const all = vi.spyOn(Inventory.prototype, "all");
  const scene = new Scene();
  const object = await scene.given(IPPolicy, "office", { description: "first" });
  scene.cluster.apply(IPPolicy, "office", { description: "second" });
  await scene.settle(object);
  expect(all).not.toHaveBeenCalled();
});
