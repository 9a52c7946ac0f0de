import { describe, expect, test } from "vitest";
import { connect, json, serve } from "../../test/support/gateway-service.ts";
import type { GatewayClient } from "./client.ts";
import { pageFollower } from "./paging.ts";
import { UnreadableAnswer } from "./read.ts";
import { eventSubscriptions, ipPolicies } from "./resources/index.ts";

/** A list of three pages; `next` returns the address of a page in the form under test. */
async function account(next: (url: string, page: number) => string, prefix = "") {
  const service = await serve((response, { url }) => {
    const page = Number(new URL(url, "http://x").searchParams.get("page") ?? 1);
    const ip_policies = [{ id: `ipp_${page}a` }, { id: `ipp_${page}b` }];
    const next_page_uri = page < 3 ? next(service.url, page + 1) : null;
    if (!url.startsWith(`${prefix}/ip_policies`)) json(response, 404, {});
    else json(response, 200, { ip_policies, uri: "/ip_policies", next_page_uri });
  });
  return { ...service, ...connect(service.url + prefix) };
}

const ids = async (client: GatewayClient) => (await client.listAll(ipPolicies)).map(({ id }) => id);

const all = ["ipp_1a", "ipp_1b", "ipp_2a", "ipp_2b", "ipp_3a", "ipp_3b"];

describe("next_page_uri", () => {
  test.each<[string, (url: string, page: number) => string]>([
    ["an address", (url, page) => `${url}/ip_policies?page=${page}`],
    ["a path", (_, page) => `/ip_policies?page=${page}`],
    ["relative to the base", (_, page) => `ip_policies?page=${page}`],
    ["a query", (_, page) => `?page=${page}`],
  ])("is followed when it is %s", async (_, next) => {
    const { client, seen, events } = await account(next);
    expect(await ids(client)).toEqual(all);
    expect(seen.map(({ url }) => url)).toEqual(["/ip_policies", "/ip_policies?page=2", "/ip_policies?page=3"]);
    expect(events.map(({ route }) => route)).toEqual(["/ip_policies", "/ip_policies", "/ip_policies"]);
  });

  test.each<[string, (url: string, page: number) => string]>([
    ["an address", (url, page) => `${url}/gate/way/ip_policies?page=${page}`],
    ["an address without the prefix", (url, page) => `${url}/ip_policies?page=${page}`],
    ["a path", (_, page) => `/gate/way/ip_policies?page=${page}`],
    ["a path without the prefix", (_, page) => `/ip_policies?page=${page}`],
    ["a query", (_, page) => `?page=${page}`],
  ])("is followed below the prefix of the base when it is %s", async (_, next) => {
    const { client } = await account(next, "/gate/way");
    expect(await ids(client)).toEqual(all);
  });

  test.each([
    ["", "/ip_policies"],
    ["/gate/way", "/ip_policies"],
    ["/gate/way", "/its/own/prefix/ip_policies"],
  ])("of a service behind a proxy at %j is read from there, and never from another origin", async (prefix, path) => {
    const elsewhere = await serve((response) => json(response, 200, { ip_policies: [] }));
    const { client } = await account((_, page) => `${elsewhere.url}${path}?page=${page}`, prefix);
    expect(await ids(client)).toEqual(all);
    expect(elsewhere.seen).toEqual([]);
  });

  test("that is no address is an error", async () => {
    const { client } = await account(() => "data:text/plain,x");
    await expect(ids(client)).rejects.toMatchObject({ kind: "unreadable", route: "/ip_policies", status: 200 });
  });

  test.each<[string, () => string]>([
    ["itself", () => "/ip_policies"],
    ["a page before", () => "/ip_policies?page=2"],
  ])("is not followed to a page that was read before: %s", async (_, next) => {
    const { client, seen } = await account(next);
    await expect(ids(client)).rejects.toMatchObject({ kind: "unreadable" });
    expect(seen.length).toBeLessThanOrEqual(2);
  });
});

test("a list that never ends is an error", () => {
  const follow = pageFollower({ origin: "https://api.example.com", prefix: "" }, "/ip_policies");
  const read = () => {
    for (let page = 2; page <= 20_000; page++) follow(`?page=${page}`);
  };
  expect(read).toThrow(UnreadableAnswer);
});

describe("list", () => {
  test("returns pages with the times of their requests, and stops when its reader stops", async () => {
    const { url, seen } = await account((_, page) => `?page=${page}`);
    let time = 1000;
    const { client } = connect(url, { now: () => time++ });
    const started: number[] = [];
    for await (const page of client.list(ipPolicies)) {
      started.push(page.startedAt);
      if (started.length === 2) break;
    }
    expect(started).toEqual([1000, 1001]);
    expect(seen).toHaveLength(2);
  });

  test("stops in the middle when the signal is aborted", async () => {
    const { client, seen } = await account((_, page) => `?page=${page}`);
    const stop = new AbortController();
    const pages = client.list(ipPolicies, { signal: stop.signal });
    await pages.next();
    stop.abort();
    await expect(pages.next()).rejects.toMatchObject({ kind: "unsent" });
    expect(seen).toHaveLength(1);
  });

  test("returns the readable rows, while listAll rejects", async () => {
    const rows = [{ id: "ipp_1" }, { id: "ipp_2", description: 7 }, { id: "ipp_3" }];
    const { url } = await serve((response) => json(response, 200, { ip_policies: rows, next_page_uri: null }));
    const { client } = connect(url);
    const { value: page } = await client.list(ipPolicies).next();
    expect(page?.rows.map(({ id }) => id)).toEqual(["ipp_1", "ipp_3"]);
    expect(page?.problems).toMatchObject([{ id: "ipp_2", problem: expect.stringContaining("description") }]);
    await expect(client.listAll(ipPolicies)).rejects.toMatchObject({ kind: "unreadable", id: "ipp_2" });
  });

  test("listAll returns a row that moved between pages once, as it was read last", async () => {
    const { url } = await serve((response, { url }) =>
      url.includes("page=2")
        ? json(response, 200, { event_subscriptions: [{ id: "b", description: "new" }, { id: "c" }] })
        : json(response, 200, { event_subscriptions: [{ id: "a" }, { id: "b" }], next_page_uri: "?page=2" }),
    );
    const rows = await connect(url).client.listAll(eventSubscriptions);
    expect(rows).toEqual([{ id: "a" }, { id: "b", description: "new" }, { id: "c" }]);
  });
});
