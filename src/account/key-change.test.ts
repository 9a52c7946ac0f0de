import { beforeEach, describe, expect, it } from "vitest";
import { FakeGateway } from "../../test/fakes/reconcile/fake-gateway.ts";
import { keyedClient } from "../../test/fakes/reconcile/keyed-client.ts";
import { VirtualClock } from "../../test/fakes/runtime/virtual-clock.ts";
import type { Resource } from "../gateway/resource.ts";
import { ipPolicies, tcpEdges, tunnelSessions } from "../gateway/resources/index.ts";
import { HTTPSEdgeRoute } from "../kinds/https-edge-route.ts";
import { Outdated } from "../objects/reconcile-error.ts";
import { Account } from "./account.ts";
import { digestOf } from "./key-proof.ts";
import { RequestBudget } from "./requests/request-budget.ts";

// What is sent and read while it is not known whether the key is one of the account.

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
    undocumented: true,
    deletesPerMinute: 0,
    signal: request.signal,
    assertMaySend: () => {},
    key: { recorded: () => recorded },
  });
});

describe("a create", () => {
  it("proves the key with which it is sent", async () => {
    await account.collection(ipPolicies).create({}, request);
    expect(account.keyProof.isProved).toBe(true);
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
  expect(gateway.takeCalls()).toEqual(["list", "get ipp_elsewhere"]);
  await clock.advance(10_000);
  await expect(account.keyProof.ensure()).rejects.toMatchObject(mismatch);
  expect(gateway.takeCalls()).toEqual(["get ipp_elsewhere"]);
});

it("no command is sent to a session under a key that is not proved", async () => {
  recorded.set(ipPolicies, new Set(["ipp_elsewhere"]));
  use(key);
  const sessions = account.collection(tunnelSessions);
  await expect(sessions.admit(request)).rejects.toMatchObject({ reason: "AccountMismatch" });
  let isSent = false;
  Object.assign(gateway, {
    command: async () => {
      isSent = true;
    },
  });
  await expect(sessions.command("restart", "ts_1", request.signal)).rejects.toThrow("not sent");
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

it("a module does not count as unset under a key that is not proved", async () => {
  const route = gateway.seed(HTTPSEdgeRoute.resource, {});
  recorded.set(ipPolicies, new Set(["ipp_elsewhere"]));
  const routes = account.remotes(HTTPSEdgeRoute);
  const look = routes.get(`edghts_1/${route.id}`, request, ["webhook_verification"]);
  await expect(look).rejects.toMatchObject({ reason: "AccountMismatch" });
});
