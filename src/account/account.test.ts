import { beforeEach, describe, expect, it } from "vitest";
import { recordsOf } from "../../test/fakes/account/records.ts";
import { Scene } from "../../test/fakes/reconcile/scene.ts";
import { GatewayError } from "../gateway/errors.ts";
import { ipPolicies, reservedDomains, tlsEdges, tunnelSessions } from "../gateway/resources/index.ts";
import { HTTPSEdgeRoute } from "../kinds/https-edge-route.ts";
import { Retry } from "../objects/reconcile-error.ts";
import { Account } from "./account.ts";
import type { AccountOptions } from "./account-options.ts";
import { RequestBudget } from "./requests/request-budget.ts";

const request = { lane: "edit" as const, signal: new AbortController().signal };

let scene: Scene;
let account: Account;
let recordOf: ReturnType<typeof recordsOf>;

beforeEach(() => {
  scene = new Scene();
  ({ account } = scene);
  recordOf = recordsOf(scene.clock);
});

describe("an operation", () => {
  it("is never sent when the service does not have it, and when the API page does not show it only where undocumented operations may be tried", () => {
    expect(account.operations.mayTry(tunnelSessions, "delete")).toBe(false);
    expect(account.operations.of(tunnelSessions, "delete")).toBe("unsupported");
    expect(account.operations.mayTry(tlsEdges, "delete")).toBe(true);
    const cautious = new Scene({ undocumented: false }).account;
    expect(cautious.operations.mayTry(tlsEdges, "delete")).toBe(false);
    expect(cautious.operations.mayTry(ipPolicies, "delete")).toBe(true);
  });

  it("that the service refused is refused for this operation, this resource and this account alone", () => {
    account.operations.refused(ipPolicies, "delete");
    const others = [account.operations.mayTry(ipPolicies, "update"), account.operations.mayTry(tlsEdges, "delete")];
    expect([...others, new Scene().account.operations.mayTry(ipPolicies, "delete")]).toEqual([true, true, true]);
  });

  it("is tried for one object at a time after the service refused it", async () => {
    account.operations.refused(ipPolicies, "delete");
    expect(account.operations.mayTry(ipPolicies, "delete")).toBe(false);
    await scene.clock.advance(account.operations.secondsUntilTry(ipPolicies, "delete") * 1000);
    expect(account.operations.mayTry(ipPolicies, "delete")).toBe(true);
    account.operations.tried(ipPolicies, "delete");
    expect(account.operations.mayTry(ipPolicies, "delete")).toBe(false);
    account.operations.accepted(ipPolicies, "delete");
    expect(account.operations.mayTry(ipPolicies, "delete")).toBe(true);
  });
});

function accountWith(more: Partial<AccountOptions>): Account {
  const { clock, gateway } = scene;
  return new Account({
    client: gateway.asClient(),
    clock,
    undocumented: true,
    deletesPerMinute: 0,
    budget: new RequestBudget({ perMinute: 0, clock }),
    signal: request.signal,
    assertMaySend: () => {},
    ...more,
  });
}

it("proves a key by the list of other credentials that have it, without a request", async () => {
  const recorded = () => new Map([[ipPolicies, new Set(["ipp_1"])]]);
  account = accountWith({ key: { recorded, listedElsewhere: async () => ["ipp_1"] } });
  account.keyProof.use("one");
  await account.keyProof.ensure();
  expect([account.keyProof.isProved, scene.gateway.takeCalls()]).toEqual([true, []]);
});

it.each([true, false])("reads a missing remote again while an object has it: %s", async (hasObject) => {
  account = accountWith({ loss: { hasObjectFor: () => hasObject } });
  account.lossGuard.suspect({ resource: ipPolicies, id: "ipp_1" }, { missing: 5, total: 5 });
  await scene.clock.advance(2000);
  await account.recheckMissing(request.signal);
  expect(scene.gateway.takeCalls()).toEqual(hasObject ? ["get ipp_1"] : []);
  expect(account.lossGuard.isSuspected).toBe(hasObject);
});

it("tells of a missing remote that is back, and then suspects no loss any more", async () => {
  const told: unknown[] = [];
  account = accountWith({ onListDelta: ({ name }, delta) => told.push([name, delta]) });
  const { id } = scene.gateway.seed(ipPolicies, {});
  account.lossGuard.suspect({ resource: ipPolicies, id }, { missing: 5, total: 5 });
  await scene.clock.advance(2000);
  await account.recheckMissing(request.signal);
  expect(told.at(-1)).toEqual(["ip_policies", { changed: [id], absent: [] }]);
  expect(account.lossGuard.isSuspected).toBe(false);
});

it("reads the missing remotes of other resources although that of one cannot be read, and then throws", async () => {
  account = accountWith({});
  const { id } = scene.gateway.seed(tlsEdges, {});
  account.lossGuard.suspect({ resource: ipPolicies, id: "ipp_1" }, { missing: 5, total: 5 });
  account.lossGuard.suspect({ resource: tlsEdges, id }, { missing: 5, total: 5 });
  await scene.clock.advance(2000);
  scene.gateway.refuse("get", 500);
  await expect(account.recheckMissing(request.signal)).rejects.toMatchObject({ status: 500 });
  expect(account.lossGuard.takeDueRechecks()).toEqual([]);
  await scene.clock.advance(4000);
  expect(account.lossGuard.takeDueRechecks()).toMatchObject([{ id: "ipp_1" }]);
});

it("was listed when the latest list of any resource began, whatever was never listed", async () => {
  expect(account.listedAt).toBeUndefined();
  await scene.clock.advance(1000);
  await account.collection(ipPolicies).listed(0, { lane: "sync" });
  account.collection(tlsEdges);
  expect(account.listedAt).toBe(1000);
});

it("knows that the service has accepted the key when it has answered", async () => {
  expect(account.breaker.wasAcceptedWithin(1000)).toBe(false);
  await account.probe("sync", request.signal);
  expect(account.breaker.wasAcceptedWithin(1000)).toBe(true);
});

it("notes when it has changed something, and tells what", async () => {
  const told: unknown[] = [];
  const { clock } = scene;
  account = accountWith({
    onOwnChange: ({ name }, id, after) => told.push([name, id, after?.["description"]]),
  });
  await clock.advance(5000);
  const policies = account.collection(ipPolicies);
  const { id } = await policies.create({ description: "a" }, request);
  expect(account.changedAt).toBe(clock.now());
  await policies.update(id, { description: "b" }, request);
  await policies.delete(id, request);
  expect(told).toEqual([
    ["ip_policies", id, "a"],
    ["ip_policies", id, "b"],
    ["ip_policies", id, undefined],
  ]);
});

it("tells when a loss is suspected and when it is over", () => {
  const told: string[] = [];
  account = accountWith({ loss: { onChange: (isSuspected) => told.push(isSuspected ? "lost" : "back") } });
  account.lossGuard.suspect({ resource: ipPolicies, id: "ipp_1" }, { missing: 5, total: 5 });
  expect(told).toEqual(["lost"]);
  account.lossGuard.clear(ipPolicies);
  expect(told).toEqual(["lost", "back"]);
});

it.each([
  ["as often as is set", 100, 100],
  ["every five minutes unless something else is set", undefined, 300],
])("counts losses together that happen while all lists are read again: %s", async (_, resyncSeconds, seconds) => {
  account = accountWith({ ...(resyncSeconds && { resyncSeconds }) });
  account.lossGuard.recordLost("ipp_1");
  await scene.clock.advance(seconds * 1250);
  expect(account.lossGuard.recentlyLost).toEqual(["ipp_1"]);
  await scene.clock.advance(1);
  expect(account.lossGuard.recentlyLost).toEqual([]);
});

it.each([
  ["as often as is set", 100, 100],
  ["every five minutes unless something else is set", undefined, 300],
])("reads a module again when a resync is about to come: %s", async (_, resyncSeconds, seconds) => {
  account = accountWith({ ...(resyncSeconds && { resyncSeconds }) });
  const id = `edghts_1/${scene.gateway.seed(HTTPSEdgeRoute.resource, {}).id}`;
  const look = () => account.remotes(HTTPSEdgeRoute).get(id, request, ["saml"]);
  const reads = () => scene.gateway.takeCalls().length;
  await look();
  expect(reads()).toBe(1);
  await scene.clock.advance(seconds * 900 - 1);
  await look();
  expect(reads()).toBe(0);
  await scene.clock.advance(1);
  await look();
  expect(reads()).toBe(1);
});

it("is confirmed at the start only if a person said so, from the first use", () => {
  for (const isConfirmedAtStart of [true, undefined]) {
    account = accountWith({ ...(isConfirmedAtStart && { loss: { isConfirmedAtStart } }) });
    expect(account.lossGuard.isConfirmed("")).toBe(false);
    account.collection(ipPolicies);
    expect(account.lossGuard.isConfirmed("")).toBe(isConfirmedAtStart === true);
  }
});

it("takes an operation for unsupported only after another write has succeeded", async () => {
  for (const isWritten of [false, true]) {
    account = accountWith({});
    account.operations.refused(ipPolicies, "delete");
    await scene.clock.advance(300_000);
    if (isWritten) await account.collection(ipPolicies).create({}, request);
    await scene.clock.advance(300_000);
    account.operations.refused(ipPolicies, "delete");
    expect(account.operations.of(ipPolicies, "delete")).toBe(isWritten ? "unsupported" : "refused");
  }
});

it("an outage that ends releases what failed meanwhile, and is told", async () => {
  const told: string[] = [];
  account = accountWith({ onRecovered: () => told.push("recovered"), onOpened: () => told.push("opened") });
  const cause = new GatewayError({ kind: "failed", status: 500, method: "PATCH", route: "/", problem: "no" });
  const error = new Retry("ServiceUnavailable", "no", { afterSeconds: 600 });
  account.failures.failed(recordOf("before"), { error, cause, asked: "", inputs: undefined, isTransient: true });
  await scene.clock.advance(1000);
  // The breaker sends a probe of its own after the fifth failure.
  scene.gateway.refuse("list", 500);
  for (let count = 0; count < 5; count += 1) {
    scene.gateway.refuse("list", 500);
    await expect(account.probe("sync", request.signal)).rejects.toMatchObject({ status: 500 });
  }
  await scene.clock.advance(1);
  account.failures.failed(recordOf("meanwhile"), { error, cause, asked: "", inputs: undefined, isTransient: true });
  expect([account.breaker.problem?.status, told]).toEqual([500, ["opened"]]);
  account.breaker.succeeded();
  expect([told, account.failures.secondsLeft(recordOf("meanwhile"))]).toEqual([["opened", "recovered"], 0]);
  expect(account.failures.secondsLeft(recordOf("before"))).toBeGreaterThan(0);
});

it("what other credentials have changed is known at once where the resource is in use", async () => {
  const { id, ...rest } = scene.gateway.seed(ipPolicies, { description: "old" });
  account.learn(ipPolicies, id, { id });
  const policies = account.collection(ipPolicies);
  await policies.listed(0, { lane: "sync" });
  await scene.clock.advance(1);
  account.learn(ipPolicies, id, { ...rest, id, description: "new" });
  expect(policies.cached(id)).toMatchObject({ description: "new" });
});

it("tries to prove a key again when it is due, whatever else is to be done", async () => {
  let tries = 0;
  const listedElsewhere = async () => {
    tries += 1;
    return [];
  };
  const recorded = () => new Map([[ipPolicies, new Set(["ipp_1"])]]);
  account = accountWith({ key: { recorded, listedElsewhere } });
  account.keyProof.use("one");
  await account.recheckMissing(request.signal);
  expect(tries).toBe(0);
  await expect(account.keyProof.ensure()).rejects.toMatchObject({ reason: "AccountMismatch" });
  await account.recheckMissing(request.signal);
  expect(scene.gateway.takeCalls()).toEqual([]);
  await scene.clock.advance(2000);
  await expect(account.recheckMissing(request.signal)).rejects.toMatchObject({ reason: "AccountMismatch" });
  expect(scene.gateway.takeCalls()).toEqual(["get ipp_1"]);
});

describe("a probe", () => {
  const { signal } = new AbortController();
  const probed = () => scene.gateway.calls.splice(0).map(({ resource }) => resource);

  it("uses two routes in turn", async () => {
    for (let count = 0; count < 3; count += 1) await account.probe("sync", signal);
    expect(probed()).toEqual(["ip_policies", "reserved_domains", "ip_policies"]);
  });

  it("uses another route than the one that has failed", async () => {
    for (const { path: route } of [ipPolicies, reservedDomains, tlsEdges])
      await account.probe("sync", signal, { route });
    expect(probed()).toEqual(["reserved_domains", "ip_policies", "ip_policies"]);
  });
});
