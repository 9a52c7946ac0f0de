import { beforeEach, describe, expect, it } from "vitest";
import { GatewayError } from "../gateway/errors.ts";
import { ipPolicies, reservedDomains, tlsEdges, tunnelSessions } from "../gateway/resources/index.ts";
import { Retry } from "../objects/reconcile-error.ts";
import { Scene } from "../reconcile/testing/scene.ts";
import { Account } from "./account.ts";
import type { AccountOptions } from "./account-options.ts";
import { RequestBudget } from "./requests/request-budget.ts";

const request = { lane: "edit" as const, signal: new AbortController().signal };

let scene: Scene;
let account: Account;

beforeEach(() => {
  scene = new Scene();
  ({ account } = scene);
});

describe("an operation", () => {
  it("is never sent when the service does not have it, and when the API page does not show it only where undocumented operations may be tried", () => {
    expect(account.supports(tunnelSessions, "delete")).toBe(false);
    expect(account.support(tunnelSessions, "delete")).toBe("unsupported");
    expect(account.supports(tlsEdges, "delete")).toBe(true);
    const cautious = new Scene({ undocumented: false }).account;
    expect(cautious.supports(tlsEdges, "delete")).toBe(false);
    expect(cautious.supports(ipPolicies, "delete")).toBe(true);
  });

  it("that the service refused is refused for this operation, this resource and this account alone", () => {
    account.operationRefused(ipPolicies, "delete");
    const others = [account.supports(ipPolicies, "update"), account.supports(tlsEdges, "delete")];
    expect([...others, new Scene().account.supports(ipPolicies, "delete")]).toEqual([true, true, true]);
  });

  it("is tried for one object at a time after the service refused it", async () => {
    account.operationRefused(ipPolicies, "delete");
    expect(account.supports(ipPolicies, "delete")).toBe(false);
    await scene.clock.advance(account.secondsUntilTry(ipPolicies, "delete") * 1000);
    expect(account.supports(ipPolicies, "delete")).toBe(true);
    account.operationTried(ipPolicies, "delete");
    expect(account.supports(ipPolicies, "delete")).toBe(false);
    account.operationAccepted(ipPolicies, "delete");
    expect(account.supports(ipPolicies, "delete")).toBe(true);
  });
});

function accountWith(more: Partial<AccountOptions>): Account {
  const { clock, gateway } = scene;
  return new Account({
    ...{ client: gateway.asClient(), clock, deadlineMs: 30_000, undocumented: true, deletesPerMinute: 0 },
    ...{ budget: new RequestBudget({ perMinute: 0, clock }), signal: request.signal, assertMaySend: () => {} },
    ...more,
  });
}

it("proves a key by the list of other credentials that have it, without a request", async () => {
  const recorded = () => new Map([[ipPolicies, new Set(["ipp_1"])]]);
  account = accountWith({ key: { recorded, listedElsewhere: async () => ["ipp_1"], wayOut: () => "" } });
  account.keyProof.use("one");
  await account.keyProof.ensure();
  expect([account.keyProof.isProved, scene.gateway.takeCalls()]).toEqual([true, []]);
});

it.each([true, false])("reads a missing remote again while an object has it: %s", async (hasObject) => {
  account = accountWith({ hasObjectFor: () => hasObject });
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

it("was listed when the latest list of any resource began, whatever was never listed", async () => {
  expect(account.listedAt).toBeUndefined();
  await scene.clock.advance(1000);
  await account.collection(ipPolicies).listed(0, { lane: "sync" });
  account.collection(tlsEdges);
  expect(account.listedAt).toBe(1000);
});

it("knows that the service has accepted the key when it has answered", async () => {
  account.keyProof.use("one");
  expect(account.keyProof.wasAcceptedWithin(1000)).toBe(false);
  await account.probe("sync", request.signal);
  expect(account.keyProof.wasAcceptedWithin(1000)).toBe(true);
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

it("another key ends the delays after failures, and the lists that were read are out of date", async () => {
  const cause = new GatewayError({ kind: "refused", status: 400, method: "PATCH", route: "/", problem: "no" });
  const failure = { error: new Retry("ServiceUnavailable", "no"), cause, asked: "", inputs: undefined };
  account.keyProof.use("one");
  account.recordFailure("uid", { ...failure, isTransient: false });
  const policies = account.collection(ipPolicies);
  await policies.listed(0, { lane: "sync" });
  await scene.clock.advance(1);
  account.keyProof.use("one");
  expect(account.failures.of("uid")).toBeDefined();
  const before = account.failures.secondsLeft("uid");
  expect(before).toBeGreaterThan(0);
  account.keyProof.use("two");
  expect(account.failures.secondsLeft("uid")).toBe(0);
  scene.gateway.takeCalls();
  await policies.listed(0, { lane: "sync" });
  expect(scene.gateway.takeCalls()).toEqual(["list"]);
});
