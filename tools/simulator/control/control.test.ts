import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { collections } from "../collections.ts";
import { connectControl } from "../simulator.ts";
import { type Account, openAccount } from "../testing/account.ts";
import { sampleBodies } from "../testing/samples.ts";

let account: Account;
beforeEach(async () => {
  account = await openAccount();
});
afterEach(() => account[Symbol.asyncDispose]());

describe("the log", () => {
  it("has every request, without its credential", async () => {
    await account.send("POST", "/ip_policies", { metadata: "mine" });
    await account.send("GET", "/nowhere?a=b", undefined, { authorization: "Bearer wrong" });
    const log = account.control.requests();
    expect(log).toMatchObject([
      {
        seq: 1,
        time: Date.parse("2026-01-02T03:04:05.678Z"),
        method: "POST",
        path: "/ip_policies",
        query: {},
        status: 201,
        body: { metadata: "mine" },
        handled: true,
      },
      { seq: 2, method: "GET", path: "/nowhere", query: { a: "b" }, status: 401, body: undefined, handled: true },
    ]);
    expect(log[0]?.headers).toMatchObject({ "svc-version": "2", "content-type": "application/json" });
    expect(JSON.stringify(log)).not.toContain("Bearer");
  });

  it("is counted and filtered", async () => {
    const { body } = await account.send("POST", "/ip_policies", {});
    await account.send("GET", `/ip_policies/${body.id}`);
    await account.send("GET", "/ip_policies?x=1");
    const { control } = account;
    expect([control.count(), control.count({ method: "GET" }), control.count({ path: "/ip_policies/" })]).toEqual([
      3, 2, 1,
    ]);
    expect(control.requests({ status: 400 })).toHaveLength(1);
    expect(control.requests({ after: 2 }).map(({ seq }) => seq)).toEqual([3]);
    control.clearRequests();
    expect(control.count()).toBe(0);
  });

  it("forgets what is too old", async () => {
    await using small = await openAccount({ logLimit: 2 });
    for (let index = 0; index < 6; index++) await small.send("GET", "/ip_policies");
    expect(small.control.requests().map(({ seq }) => seq)).toEqual([5, 6]);
  });
});

describe("the account", () => {
  it("is changed behind everybody's back", async () => {
    const { control, send } = account;
    const { id } = control.insert("ip_policies", { description: "theirs", created_at: "2020-01-01T00:00:00Z" });
    const get = async () => (await send("GET", `/ip_policies/${id}`)).body;
    expect(await get()).toMatchObject({ description: "theirs", created_at: "2020-01-01T00:00:00Z" });
    control.patch(String(id), { metadata: "changed" });
    expect(await get()).toMatchObject({ description: "theirs", metadata: "changed" });
    control.put(String(id), { metadata: "all" });
    expect(await get()).toMatchObject({ description: null, metadata: "all" });
    expect(control.get(String(id))).toEqual(await get());
    control.remove(String(id));
    expect(control.get(String(id))).toBeNull();
    expect(control.count({ method: "POST" })).toBe(0);
  });

  it("is changed in the words of requests", () => {
    const { control } = account;
    const edge = control.insert("edges/tls", sampleBodies(control)["edges/tls"] ?? {});
    const other = control.insert("backends/failover", {});
    const patched = control.patch(String(edge.id), { backend: { backend_id: other.id } });
    expect(patched).toMatchObject({ backend: { backend: { id: other.id } }, policy: edge.policy });
    expect(control.put(String(edge.id), {})).toMatchObject({ backend: null, policy: null, hostports: null });
    expect(() => control.patch(String(edge.id), { backend: { backend_id: "x" } })).toThrow("backend.backend_id");
  });

  it("can lose what is in use, and have what the interface would refuse", () => {
    const { control } = account;
    const { id } = control.insert("backends/tunnel_group", { id: "bkdtg_given" });
    const { id: edge } = control.insert("edges/tcp", { backend: { backend_id: id } });
    control.remove("bkdtg_given");
    expect(control.get(String(edge))).toMatchObject({ backend: { enabled: true, backend: null } });
    const { id: domain } = control.insert("reserved_domains", { domain: "www.example.org" });
    expect(control.patch(String(domain), { domain: "other.example.org" })).toMatchObject({
      domain: "other.example.org",
    });
  });

  it("keeps the children of a backend that control does not name", () => {
    const { control } = account;
    const { "backends/failover": body = {} } = sampleBodies(control);
    const { id } = control.insert("backends/failover", body);
    expect(control.patch(String(id), { metadata: "x" })).toMatchObject(body);
  });

  it("is counted, and empty again after a reset", () => {
    const { control } = account;
    expect(Object.keys(control.summary()).sort()).toEqual(collections.map(({ name }) => name).sort());
    expect(control.accountIsEmpty()).toBe(true);
    control.insert("ip_policies", {});
    control.insert("ip_policies", {});
    expect([control.summary().ip_policies, control.accountIsEmpty()]).toEqual([2, false]);
    control.reset();
    expect([control.summary().ip_policies, control.accountIsEmpty()]).toEqual([0, true]);
  });

  it("is not empty while a route has a module", () => {
    const { control } = account;
    const { routeId } = control.addRoute();
    expect(control.accountIsEmpty()).toBe(true);
    control.patch(routeId, { ip_restriction: { enabled: true, ip_policy_ids: [] } });
    expect(control.accountIsEmpty()).toBe(false);
  });

  it("says what is not there", () => {
    expect(() => account.control.objects("nothing")).toThrow("there is no collection nothing");
    expect(() => account.control.patch("ipp_1", {})).toThrow("there is no ipp_1");
  });
});

describe("keys", () => {
  it("are revoked and accepted", async () => {
    const { control, simulator, send } = account;
    control.apiKeys.revoke(simulator.apiKey);
    expect((await send("GET", "/ip_policies")).status).toBe(401);
    control.apiKeys.accept("other");
    expect((await send("GET", "/ip_policies", undefined, { authorization: "Bearer other" })).status).toBe(200);
    control.reset();
    expect((await send("GET", "/ip_policies")).status).toBe(200);
    expect((await send("GET", "/ip_policies", undefined, { authorization: "Bearer other" })).status).toBe(401);
  });
});

describe("keys that are not accepted", () => {
  it("answer 403 where the service does so, until a reset", async () => {
    const { control, send } = account;
    const status = async () => (await send("GET", "/ip_policies", undefined, { authorization: "Bearer no" })).status;
    control.apiKeys.refuseWith(403);
    expect(await status()).toBe(403);
    control.reset();
    expect(await status()).toBe(401);
  });
});

describe("over HTTP", () => {
  it("does the same", async () => {
    const remote = connectControl(account.simulator.url);
    const { id } = await remote.insert("ip_policies", { metadata: "theirs" });
    expect(await remote.get(String(id))).toEqual(account.control.get(String(id)));
    expect(await remote.get("ipp_unknown")).toBeNull();
    expect(await remote.summary()).toEqual(account.control.summary());
    expect(await remote.addRoute()).toMatchObject({ edgeId: expect.stringMatching(/^edghts_/) });
    await remote.fault({ path: /^\/IP/i, times: Number.POSITIVE_INFINITY, action: { status: 500 } });
    expect([
      (await account.send("GET", "/ip_policies")).status,
      (await account.send("GET", "/ip_policies")).status,
    ]).toEqual([500, 500]);
    expect(await remote.count({ path: /^\/ip/ })).toBe(2);
    expect(await remote.count()).toBe(2);
    await remote.clearFaults();
    await remote.apiKeys.revoke(account.simulator.apiKey);
    expect((await account.send("GET", "/ip_policies")).status).toBe(401);
    await remote.reset();
    expect(await remote.requests()).toEqual([]);
  });

  it("tells what went wrong", async () => {
    const remote = connectControl(account.simulator.url);
    await expect(remote.remove("ipp_1")).rejects.toThrow("remove: there is no ipp_1");
  });

  it("works in an outage, and answers a plain GET", async () => {
    const remote = connectControl(account.simulator.url);
    await remote.outage(true);
    const response = await fetch(`${account.simulator.url}/_control/accountIsEmpty`);
    expect(await response.json()).toEqual({ result: true });
    expect((await fetch(`${account.simulator.url}/_control/nothing`)).status).toBe(404);
    await remote.outage(false);
    expect((await account.send("GET", "/ip_policies")).status).toBe(200);
  });
});
