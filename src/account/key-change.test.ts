import { beforeEach, describe, expect, it } from "vitest";
import { FakeGateway } from "../../test/fakes/reconcile/fake-gateway.ts";
import { keyedClient } from "../../test/fakes/reconcile/keyed-client.ts";
import { VirtualClock } from "../../test/fakes/runtime/virtual-clock.ts";
import type { Resource } from "../gateway/resource.ts";
import {
  eventSubscriptions,
  ipPolicies,
  reservedDomains,
  tcpEdges,
  tunnelSessions,
} from "../gateway/resources/index.ts";
import { routeWebhookVerification } from "../gateway/resources/route-modules.ts";
import { EventSource } from "../kinds/event-source.ts";
import { HTTPSEdgeRoute } from "../kinds/https-edge-route.ts";
import { Outdated } from "../objects/reconcile-error.ts";
import { Account } from "./account.ts";
import { digestOf } from "./key-proof.ts";
import { RequestBudget } from "./requests/request-budget.ts";

// Nothing is recorded in most of these accounts, and another key is used in the middle of something.

let clock: VirtualClock;
let gateway: FakeGateway;
let account: Account;
let key: string;
let recorded: Map<Resource, Set<string>>;
const request = { lane: "edit" as const, signal: new AbortController().signal };

const use = (given: string) => account.keyProof.use(digestOf(given));

beforeEach(() => {
  clock = new VirtualClock();
  gateway = new FakeGateway(clock);
  key = "one";
  recorded = new Map();
  account = new Account({
    client: keyedClient(() => ({ key, gateway }), use),
    budget: new RequestBudget({ perMinute: 0, clock }),
    clock,
    deadlineMs: 30_000,
    undocumented: true,
    deletesPerMinute: 0,
    signal: request.signal,
    assertMaySend: () => {},
    key: { recorded: () => recorded, wayOut: () => "" },
  });
});

describe("a create", () => {
  it("proves the key with which it is sent", async () => {
    await account.collection(ipPolicies).create({}, request);
    expect(account.keyProof.isProved).toBe(true);
  });

  it("does not prove a key that comes into use before its answer", async () => {
    gateway.beforeCall = () => use("two");
    await account.collection(ipPolicies).create({}, request);
    expect(account.keyProof.isProved).toBe(false);
    use("one");
    expect(account.keyProof.isProved).toBe(false);
  });
});

describe("the proof of a key, while a list is under way", () => {
  const proveDuringList = async () => {
    const listed = account.collection(ipPolicies).listed(0, request);
    const proved = account.keyProof.ensure();
    await Promise.allSettled([listed, proved]);
    return gateway.takeCalls().filter((call) => call.includes("list")).length;
  };

  it("shares its pages", async () => {
    recorded.set(ipPolicies, new Set([gateway.seed(ipPolicies, {}).id]));
    use("one");
    expect(await proveDuringList()).toBe(1);
    expect(account.keyProof.isProved).toBe(true);
  });

  it("reads the list itself if its pages prove nothing", async () => {
    recorded.set(ipPolicies, new Set(["ipp_elsewhere"]));
    use("one");
    expect(await proveDuringList()).toBe(2);
    expect(account.keyProof.isProved).toBe(false);
  });
});

it("reads no list while a key could not be proved, except to prove it", async () => {
  recorded.set(ipPolicies, new Set(["ipp_elsewhere"]));
  use("one");
  const mismatch = { reason: "AccountMismatch" };
  await expect(account.keyProof.ensure()).rejects.toMatchObject(mismatch);
  gateway.takeCalls();
  await expect(account.collection(tcpEdges).listed(0, request)).rejects.toMatchObject(mismatch);
  expect(gateway.takeCalls()).toEqual([]);
});

it("reports an error of a read that was to prove a key, unless the remote is gone", async () => {
  recorded.set(ipPolicies, new Set(["ipp_elsewhere"]));
  use("one");
  const mismatch = { reason: "AccountMismatch" };
  await expect(account.keyProof.ensure()).rejects.toMatchObject(mismatch);
  await clock.advance(2_000);
  gateway.refuse("get", 500);
  await expect(account.keyProof.ensure()).rejects.toMatchObject({ status: 500 });
  await expect(account.keyProof.ensure()).rejects.toMatchObject(mismatch);
  expect(gateway.takeCalls()).toEqual(["list", "get ipp_elsewhere", "get ipp_elsewhere"]);
});

it("does not count a 404 when another key came into use between request and answer", async () => {
  const collection = account.collection(ipPolicies);
  const { id } = gateway.seed(ipPolicies, {});
  await collection.listed(0, request);
  await clock.advance(1);
  gateway.drop(ipPolicies, id);
  gateway.beforeCall = () => use("one");
  key = "two";
  await expect(collection.read(id, request)).rejects.toThrow(Outdated);
  expect(collection.cached(id)).toBeDefined();
});

it("does not count a 404 to the first request when another key came into use before the answer", async () => {
  const { id } = gateway.seed(ipPolicies, {});
  recorded.set(ipPolicies, new Set([id]));
  const right = gateway;
  const strange = new FakeGateway(clock);
  [key, gateway] = ["two", strange];
  strange.beforeCall = () => {
    [key, gateway] = ["one", right];
    use(key);
  };
  const collection = account.collection(ipPolicies);
  await expect(collection.read(id, request)).rejects.toThrow(Outdated);
  expect(collection.isMissing(id)).toBe(false);
});

it("takes no entry of a list that another key has shown", async () => {
  const { id } = gateway.seed(eventSubscriptions, { description: "of the first account", sources: [{ type: "x.v0" }] });
  const entries = account.remotes(EventSource);
  expect(await entries.get(`${id}/x.v0`, request)).toMatchObject({ type: "x.v0" });
  gateway.drop(eventSubscriptions, id);
  await clock.advance(1);
  key = "two";
  use(key);
  await clock.advance(1);
  expect(await entries.get(`${id}/x.v0`, request)).toBeUndefined();
});

it("does not count a list when another key was proved after it", async () => {
  // The first list of the proof begins with the wrong key. The second one proves the right key.
  for (const resource of [ipPolicies, reservedDomains])
    recorded.set(resource, new Set([gateway.seed(resource, {}).id]));
  const strange = new FakeGateway(clock);
  strange.seed(tcpEdges, {});
  const right = gateway;
  strange.beforeCall = () => {
    [key, gateway] = ["one", right];
  };
  [key, gateway] = ["two", strange];
  const edges = account.collection(tcpEdges);
  await expect(edges.listed(0, request)).rejects.toThrow(Outdated);
  expect(edges.allCached()).toEqual([]);
  await edges.listed(0, request);
  expect(account.keyProof.isProved).toBe(true);
});

it("no command is sent to a session under a key that is not proved", async () => {
  recorded.set(ipPolicies, new Set(["ipp_elsewhere"]));
  use(key);
  const sessions = account.collection(tunnelSessions);
  await expect(sessions.admit(request)).rejects.toMatchObject({ reason: "AccountMismatch" });
  let isSent = false;
  const command = sessions.perform(async (_, { assertMaySend }) => {
    assertMaySend?.(key);
    isSent = true;
  }, request.signal);
  await expect(command).rejects.toThrow(Outdated);
  expect(isSent).toBe(false);
});

it("no change is sent that became invalid while its key was read", async () => {
  use(key);
  const { id } = gateway.seed(ipPolicies, {});
  let asked = 0;
  const assertValid = () => {
    asked += 1;
    if (asked > 1) throw new Outdated("the object uses another account now");
  };
  const change = account.collection(ipPolicies).update(id, { description: "new" }, { ...request, assertValid });
  await expect(change).rejects.toThrow("not sent");
  expect(gateway.remote(ipPolicies, id)?.["description"]).toBeNull();
});

describe("a module", () => {
  let strange: FakeGateway;
  let id: string;

  beforeEach(async () => {
    const route = gateway.seed(HTTPSEdgeRoute.resource, {});
    id = `edghts_1/${route.id}`;
    await gateway.putModule(
      routeWebhookVerification,
      { edge_id: "edghts_1", id: route.id },
      { provider: "github", secret: "hush" },
    );
    for (const resource of [ipPolicies, reservedDomains])
      recorded.set(resource, new Set([gateway.seed(resource, {}).id]));
    strange = new FakeGateway(clock);
  });

  const look = async () => {
    const route = await account.remotes(HTTPSEdgeRoute).get(id, request, ["webhook_verification"]);
    return route?.["webhook_verification"];
  };

  it("does not count as unset under the key of another account", async () => {
    const right = gateway;
    [key, gateway] = ["two", strange];
    await expect(look()).rejects.toMatchObject({ reason: "AccountMismatch" });
    [key, gateway] = ["one", right];
    use(key);
    expect(await look()).toMatchObject({ provider: "github" });
  });

  it("does not count as unset when another key was proved after the answer", async () => {
    const right = gateway;
    [key, gateway] = ["two", strange];
    strange.beforeCall = () => {
      [key, gateway] = ["one", right];
    };
    await expect(look()).rejects.toThrow(Outdated);
    expect(await look()).toMatchObject({ provider: "github" });
  });

  it("does not count as set under another key, although the former key has shown it", async () => {
    expect(await look()).toMatchObject({ provider: "github" });
    [key, gateway] = ["two", strange];
    use(key);
    await expect(look()).rejects.toMatchObject({ reason: "AccountMismatch" });
  });
});
