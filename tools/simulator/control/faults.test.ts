import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Account, openAccount } from "../testing/account.ts";
import type { FaultAction } from "./faults.ts";

let account: Account;
beforeEach(async () => {
  account = await openAccount();
});
afterEach(() => account[Symbol.asyncDispose]());

const headers = () => ({
  authorization: `Bearer ${account.simulator.apiKey}`,
  "svc-version": "2",
  "content-type": "application/json",
});
const post = (signal?: AbortSignal) =>
  fetch(`${account.simulator.url}/ip_policies`, {
    method: "POST",
    headers: headers(),
    body: "{}",
    ...(signal && { signal }),
  });
const made = () => account.control.objects("ip_policies").length;
const fault = (action: FaultAction) => account.control.fault({ method: "POST", path: "/ip_policies", action });
const patient = { interval: 5 };
const last = () => account.control.requests().at(-1);

describe("actions", () => {
  it("answer something else", async () => {
    fault({ status: 502, body: "<h1>Bad Gateway</h1>", headers: { "content-type": "text/html", "x-proxy": "1" } });
    const response = await post();
    expect([response.status, await response.text()]).toEqual([502, "<h1>Bad Gateway</h1>"]);
    expect(response.headers.get("x-proxy")).toBe("1");
    expect([made(), last()]).toMatchObject([0, { status: 502, handled: false, fault: expect.stringContaining("502") }]);
  });

  it("answer JSON, or nothing at all", async () => {
    fault({ status: 500, body: { msg: "Broken" } });
    fault({ status: 503 });
    expect(await (await post()).json()).toEqual({ msg: "Broken" });
    const empty = await post();
    expect([empty.status, await empty.text()]).toEqual([503, ""]);
  });

  it("answer something else although the request is carried out", async () => {
    fault({ status: 400, handledAfterMs: 0 });
    expect((await post()).status).toBe(400);
    expect([made(), last()]).toMatchObject([1, { status: 400, handled: true }]);
  });

  it("answer something else, and carry the request out later", async () => {
    fault({ status: 408, handledAfterMs: 60 });
    expect((await post()).status).toBe(408);
    expect(made()).toBe(0);
    await expect.poll(made, patient).toBe(1);
    expect(last()).toMatchObject({ status: 408, handled: true });
  });

  it("delay", async () => {
    fault({ delayMs: 60 });
    const before = performance.now();
    expect((await post()).status).toBe(201);
    expect(performance.now() - before).toBeGreaterThanOrEqual(55);
  });

  it("delay what is handled although the caller has gone", async () => {
    fault({ delayMs: 60 });
    const caller = new AbortController();
    const answer = post(caller.signal);
    await expect.poll(() => last()?.body, patient).toEqual({});
    caller.abort();
    await expect(answer).rejects.toThrow();
    await expect.poll(made, patient).toBe(1);
  });

  it("cut before it is handled", async () => {
    fault({ cut: "before" });
    await expect(post()).rejects.toThrow();
    expect([made(), last()]).toMatchObject([0, { status: null, handled: false }]);
  });

  it("cut after it is handled", async () => {
    fault({ cut: "after" });
    await expect(post()).rejects.toThrow();
    expect([made(), last()]).toMatchObject([1, { status: 201, handled: true }]);
  });

  it("truncate the answer", async () => {
    fault({ truncate: true });
    const response = await post();
    expect(response.status).toBe(201);
    await expect(response.text()).rejects.toThrow();
    expect(made()).toBe(1);
  });

  it("answer garbage", async () => {
    fault({ garbage: true });
    const response = await post();
    expect([response.status, response.headers.get("content-type")]).toEqual([201, "text/html"]);
    await expect(response.json()).rejects.toThrow();
    expect(made()).toBe(1);
  });

  it("limit the rate", async () => {
    fault({ rateLimit: { retryAfterSeconds: 7 } });
    const response = await post();
    expect([response.status, response.headers.get("retry-after"), made()]).toEqual([429, "7", 0]);
  });

  it.each([
    [true, 0],
    ["after", 1],
  ] as const)("hang: %s", async (hang, count) => {
    fault({ hang });
    const caller = new AbortController();
    const answer = post(caller.signal);
    await expect.poll(() => [last()?.body, made()], patient).toEqual([{}, count]);
    caller.abort();
    await expect(answer).rejects.toThrow();
    expect([made(), account.control.count()]).toEqual([count, 1]);
  });
});

describe("which requests are hit", () => {
  const statuses = async (count: number, path = "/ip_policies") => {
    const all: number[] = [];
    for (let index = 0; index < count; index++) all.push((await account.send("GET", path)).status);
    return all;
  };
  const action = { status: 500 };

  it("is the next one, by default", async () => {
    account.control.fault({ action });
    expect(await statuses(3)).toEqual([500, 200, 200]);
  });

  it("is the nth, and as many after it as are asked for", async () => {
    account.control.fault({ nth: 2, times: 2, action });
    expect(await statuses(5)).toEqual([200, 500, 500, 200, 200]);
  });

  it("is every one, until faults are cleared", async () => {
    account.control.fault({ times: Number.POSITIVE_INFINITY, action });
    expect(await statuses(3)).toEqual([500, 500, 500]);
    account.control.clearFaults();
    expect(await statuses(1)).toEqual([200]);
  });

  it("goes by chance, which the seed repeats", async () => {
    account.control.fault({ probability: 0.5, times: Number.POSITIVE_INFINITY, action });
    const hit = (await statuses(100)).filter((status) => status === 500).length;
    expect(hit).toBeGreaterThan(25);
    expect(hit).toBeLessThan(75);
  });

  it.each([
    ["/reserved", [500, 200]],
    ["/reserved_domains/", [200, 200]],
    ["^/reserved_(domains|addrs)$", [500, 200]],
    ["^/domains", [200, 200]],
    [/DOMAINS$/i, [500, 200]],
  ])("goes by the path %s", async (path, [domains, policies]) => {
    account.control.fault({ path, times: Number.POSITIVE_INFINITY, action });
    expect([...(await statuses(1, "/reserved_domains")), ...(await statuses(1))]).toEqual([domains, policies]);
  });

  it("goes by the method", async () => {
    account.control.fault({ method: "delete", action });
    expect(await statuses(1)).toEqual([200]);
    expect((await post()).status).toBe(201);
  });

  it("is decided by the first fault that fits", async () => {
    account.control.fault({ action: { status: 501 } });
    account.control.fault({ action: { status: 502 } });
    expect(await statuses(3)).toEqual([501, 502, 200]);
  });
});

describe("an outage", () => {
  it("destroys every connection until it is over", async () => {
    account.control.outage(true);
    await expect(post()).rejects.toThrow();
    account.control.outage(false);
    expect((await post()).status).toBe(201);
    expect(account.control.requests()).toMatchObject([{ status: null, fault: "outage" }, { status: 201 }]);
  });

  it("answers 503 where that is asked for", async () => {
    account.control.outage(true, "unavailable");
    expect((await post()).status).toBe(503);
    expect(made()).toBe(0);
  });
});
