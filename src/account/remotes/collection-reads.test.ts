import { beforeEach, describe, expect, it } from "vitest";
import { callsOptions, collectionOf } from "../../../test/fakes/account/calls.ts";
import { recordsOf } from "../../../test/fakes/account/records.ts";
import { FakeGateway } from "../../../test/fakes/reconcile/fake-gateway.ts";
import { VirtualClock } from "../../../test/fakes/runtime/virtual-clock.ts";
import type { Remote } from "../../gateway/resource.ts";
import { ipPolicies, tcpEdgePolicy, tcpEdges } from "../../gateway/resources/index.ts";
import { Turn } from "../requests/turn.ts";
import type { Collection } from "./collection.ts";
import type { CollectionOptions } from "./collection-options.ts";

const request = { lane: "edit" as const, signal: new AbortController().signal };

let clock: VirtualClock;
let gateway: FakeGateway;
let ownChanges: [string, Remote | undefined][];

beforeEach(() => {
  clock = new VirtualClock();
  gateway = new FakeGateway(clock);
  ownChanges = [];
});

const of = (resource: CollectionOptions["resource"], more: Partial<CollectionOptions> = {}) =>
  collectionOf({ clock, gateway }, resource, { onOwnChange: (id, after) => ownChanges.push([id, after]), ...more });

describe("a read that callers share", () => {
  let collection: Collection;
  let id: string;

  beforeEach(() => {
    collection = of(ipPolicies);
    ({ id } = gateway.seed(ipPolicies, {}));
  });

  it("is one request, under way or answered, for those who accept its age", async () => {
    const both = await Promise.all([0, 0].map((since) => collection.readSince(id, since, request)));
    await clock.advance(10);
    const later = await collection.readSince(id, 0, request);
    expect([...both, later].map((remote) => remote?.id)).toEqual([id, id, id]);
    expect(gateway.takeCalls()).toEqual([`get ${id}`]);
    await collection.readSince(id, 10, request);
    expect(gateway.takeCalls()).toEqual([`get ${id}`]);
    await collection.readSince(id, 10, request);
    expect(gateway.takeCalls()).toEqual([]);
  });

  it("is repeated for the next caller after it has failed", async () => {
    gateway.refuse("get", 500);
    await expect(collection.readSince(id, 0, request)).rejects.toMatchObject({ status: 500 });
    expect(await collection.readSince(id, 0, request)).toMatchObject({ id });
  });

  it("is waited for in the worker, since the next run of the reconcile would ask for a later one", async () => {
    const answer = Promise.withResolvers<void>();
    const { get } = gateway;
    gateway.get = async (...given) => {
      await answer.promise;
      return get(...given);
    };
    const read = collection.readSince(id, 0, { lane: "edit", turn: new Turn(recordsOf(clock)("a"), clock) });
    await clock.advance(5000);
    answer.resolve();
    expect(await read).toMatchObject({ id });
  });
});

it("a search for what is absent now ends, however long each of its two lists takes", async () => {
  for (let count = 0; count < 2; count += 1) gateway.seed(ipPolicies, {});
  gateway.pageSize = 1;
  gateway.list = async function* (...given) {
    await new Promise<void>((resolve) => clock.setTimeout(resolve, 5000));
    yield* FakeGateway.prototype.list.apply(gateway, given);
  };
  const turn = new Turn(recordsOf(clock)("a"), clock);
  await clock.advance(1);
  const search = of(ipPolicies).search(clock.now(), () => undefined, { ...request, turn });
  await clock.advance(10_000);
  expect(await search).toBeUndefined();
  expect(gateway.takeCalls()).toEqual(["list", "list", "list", "list"]);
});

it("a read of one remote proves the key if the remote exists, and reaches no cache", async () => {
  const { id } = gateway.seed(ipPolicies, {});
  const { keyProof } = callsOptions(clock, { recorded: () => new Map([[ipPolicies, new Set([id, "ipp_gone"])]]) });
  keyProof.use("new");
  const collection = of(ipPolicies, { keyProof });
  await collection.proveKeyBy("ipp_gone", request);
  expect(keyProof.isProved).toBe(false);
  await collection.proveKeyBy(id, request);
  expect(keyProof.isProved).toBe(true);
  expect(collection.allCached()).toEqual([]);
});

it("a create shows the mark of its remote, although the list shows none", async () => {
  gateway.unlisted.add("metadata");
  const { id: other } = gateway.seed(ipPolicies, {});
  const collection = of(ipPolicies);
  await collection.listed(0, request);
  const { id } = await collection.create({ metadata: "mark" }, request);
  expect([id, other].map((one) => collection.marks?.isUnknown(one))).toEqual([false, true]);
  expect([id, other].map((one) => collection.marks?.isStale(one))).toEqual([false, true]);
});

it("metadata that was removed during a GET stays removed, if the list shows metadata of others", async () => {
  const { id } = gateway.seed(ipPolicies, { metadata: "mark" });
  gateway.seed(ipPolicies, { metadata: "another" });
  const answer = Promise.withResolvers<void>();
  const { get } = gateway;
  gateway.get = async (...given) => {
    const remote = await get(...given);
    await answer.promise;
    return remote;
  };
  const collection = of(ipPolicies);
  const read = collection.read(id, request);
  await clock.advance(1);
  gateway.change(ipPolicies, id, { metadata: undefined });
  await collection.listed(clock.now(), request);
  answer.resolve();
  expect((await read)?.["metadata"]).toBeUndefined();
  expect(collection.cached(id)?.["metadata"]).toBeUndefined();
});

describe("what this process does itself", () => {
  it("is told for each remote that was changed, and not when the remote was gone already", async () => {
    const collection = of(ipPolicies);
    const { id } = await collection.create({}, request);
    await collection.update(id, { description: "new" }, request);
    expect(await collection.delete(id, request)).toBe(true);
    expect(await collection.delete(id, request)).toBe(false);
    expect(ownChanges).toEqual([
      [id, expect.objectContaining({ description: null })],
      [id, expect.objectContaining({ description: "new" })],
      [id, undefined],
    ]);
  });

  it("makes no remote missing, while one that somebody else has deleted is", async () => {
    const collection = of(ipPolicies);
    const [own, other] = [gateway.seed(ipPolicies, {}), gateway.seed(ipPolicies, {})];
    await collection.listed(0, request);
    await collection.delete(own.id, request);
    gateway.drop(ipPolicies, other.id);
    await collection.delete(other.id, request);
    expect([own, other].map(({ id }) => collection.cached(id))).toEqual([undefined, undefined]);
    expect([own, other].map(({ id }) => collection.isMissing(id))).toEqual([false, true]);
  });

  it("changes nothing in the cache when a remote is unknown whose module was deleted", async () => {
    const { id } = gateway.seed(tcpEdges, { policy: { enabled: true } });
    const collection = of(tcpEdges);
    expect(await collection.deleteModule(id, "policy", tcpEdgePolicy, request)).toBe(true);
    gateway.refuse("deleteModule", 404);
    expect(await collection.deleteModule(id, "policy", tcpEdgePolicy, request)).toBe(false);
    expect(collection.allCached()).toEqual([]);
    expect(ownChanges).toEqual([]);
  });
});
