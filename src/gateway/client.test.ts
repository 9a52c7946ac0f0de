import { getEventListeners } from "node:events";
import { inspect } from "node:util";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { connect, everything, json, serve } from "../../test/support/gateway-service.ts";
import type { GatewayClient } from "./client.ts";
import {
  eventDestinations,
  ipPolicies,
  routeOidc,
  routeSaml,
  tcpEdgePolicy,
  tlsCertificates,
  tlsEdges,
} from "./resources/index.ts";

describe("a request", () => {
  test("has API key, version, user agent and media types", async () => {
    const { url, seen } = await serve((response) => json(response, 201, { id: "ipp_1" }));
    const { client } = connect(url, { apiKey: async () => "the-key\n", userAgent: "someone/1" });
    await client.create(ipPolicies, { description: "d", metadata: undefined, nested: { a: undefined, b: null } });
    expect(seen[0]).toMatchObject({
      method: "POST",
      url: "/ip_policies",
      body: `{"description":"d","nested":{"b":null}}`,
      headers: {
        authorization: "Bearer the-key",
        "svc-version": "2",
        "user-agent": "someone/1",
        "content-type": "application/json",
        accept: "application/json",
      },
    });
  });

  test("GET and DELETE have neither a body nor a content type", async () => {
    const { url, seen } = await serve((response, { method }) =>
      method === "GET" ? json(response, 200, { id: "ipp_1" }) : response.writeHead(204).end(),
    );
    const { client } = connect(url);
    await client.get(ipPolicies, "ipp_1");
    await client.delete(ipPolicies, "ipp_1");
    for (const { body, headers } of seen) {
      expect(body).toBe("");
      expect(headers).not.toHaveProperty("content-type");
      expect(headers).not.toHaveProperty("content-length");
      expect(headers).not.toHaveProperty("transfer-encoding");
    }
  });

  test("asks for the key before each call, so that a rotated one is used at once", async () => {
    const { url, seen } = await serve((response) => json(response, 200, { id: "ipp_1" }));
    const keys = ["first", "second"];
    const { client } = connect(url, { apiKey: () => keys.shift() ?? "" });
    await client.get(ipPolicies, "ipp_1");
    await client.get(ipPolicies, "ipp_1");
    expect(seen.map(({ headers }) => headers.authorization)).toEqual(["Bearer first", "Bearer second"]);
  });

  test("ids cannot leave their place in the path", async () => {
    const id = "../api_keys?a#b";
    const { url, seen } = await serve((response) => json(response, 200, { id }));
    await connect(`${url}/gate/`).client.get(ipPolicies, id);
    expect(seen[0]?.url).toBe("/gate/ip_policies/..%2Fapi_keys%3Fa%23b");
  });

  test("goes through the proxy to its host, which gets the whole URL", async () => {
    const proxy = await serve((response) => json(response, 200, { id: "ipp_1", description: "by proxy" }));
    const { client } = connect("http://service.test/v1", { proxies: { http: new URL(proxy.url) } });
    expect((await client.get(ipPolicies, "ipp_1")).description).toBe("by proxy");
    expect(proxy.seen[0]?.url).toBe("http://service.test/v1/ip_policies/ipp_1");
  });

  test("reaches this computer without a proxy", async () => {
    const proxy = await serve((response) => json(response, 200, { id: "ipp_1", description: "by proxy" }));
    const { url } = await serve((response) => json(response, 200, { id: "ipp_1", description: "directly" }));
    const { client } = connect(url, { proxies: { http: new URL(proxy.url) } });
    expect((await client.get(ipPolicies, "ipp_1")).description).toBe("directly");
  });
});

describe("an answer", () => {
  test("is returned under the names of the service, without unknown members", async () => {
    const edge = { id: "edgtls_1", hostports: null, mutual_tls: { certificate_authorities: [{ id: "ca_1" }] } };
    const { url } = await serve((response) => json(response, 200, { ...edge, other: 1 }));
    const { client } = connect(url);
    const got = await client.get(tlsEdges, "edgtls_1");
    expect(got).toEqual(edge);
    expect(got.mutual_tls?.certificate_authorities?.[0]?.id).toBe("ca_1");
  });

  test("is a success for any 2xx", async () => {
    const { url } = await serve((response, { method }) =>
      json(response, method === "POST" ? 200 : 202, { id: "ipp_1" }),
    );
    const { client } = connect(url);
    await expect(client.create(ipPolicies, {})).resolves.toEqual({ id: "ipp_1" });
    await expect(client.delete(ipPolicies, "ipp_1")).resolves.toBeUndefined();
  });

  test("is null for a module that is not set, whether the body is empty or null", async () => {
    const { url } = await serve((response, { url }) =>
      url.endsWith("saml") ? response.writeHead(204).end() : json(response, 200, null),
    );
    const { client } = connect(url);
    expect(await client.getModule(routeSaml, { edge_id: "e", id: "r" })).toBeNull();
    expect(await client.getModule(tcpEdgePolicy, { id: "e" })).toBeNull();
    await expect(client.putModule(tcpEdgePolicy, { id: "e" }, {})).rejects.toMatchObject({ kind: "unreadable" });
  });
});

describe("secrets", () => {
  const pem = `-----BEGIN PRIVATE KEY-----\n${"MIGHAgEAMBMGByqGSM49AgEG".repeat(3)}\n-----END PRIVATE KEY-----\n`;

  test.each<[string, string, (client: GatewayClient) => Promise<unknown>]>([
    ["the API key", "key-of-the-test-account", (client) => client.get(ipPolicies, "ipp_1")],
    ["a private key", pem, (client) => client.create(tlsCertificates, { certificate_pem: "c", private_key_pem: pem })],
    [
      "a client secret",
      "hunter2",
      (client) => client.putModule(routeOidc, { edge_id: "e", id: "r" }, { client_secret: "hunter2" }),
    ],
    [
      "an access key",
      "hunter2/access",
      (client) =>
        client.update(eventDestinations, "ed_1", {
          target: { logs: { auth: { creds: { cloud_secret_access_key: "hunter2/access" } } } },
        }),
    ],
  ])("%s that the service quotes is in no part of the error or the exchange event", async (_, secret, act) => {
    const { url } = await serve((response) =>
      json(response, 422, { error_code: secret, msg: `You sent ${secret}!`, details: { operation_id: secret } }),
    );
    const { client, events } = connect(url);
    const error = await act(client).catch((thrown: unknown) => thrown as Error);
    expect(error).toMatchObject({
      kind: "refused",
      status: 422,
      serviceMessage: expect.stringMatching(/^You sent .*!$/),
    });
    const reported = inspect([error, events], everything);
    expect(reported).not.toContain(secret.slice(0, 16).trim());
    expect(reported).not.toContain("MIGHAgEA");
  });
});

describe("one call", () => {
  test("is reported once, without ids and queries", async () => {
    const { url } = await serve((response) => json(response, 200, { id: "ipp_1" }));
    const { client, events } = connect(url);
    await client.get(ipPolicies, "ipp_1");
    expect(events).toEqual([
      {
        method: "GET",
        route: "/ip_policies/{id}",
        path: "/ip_policies/ipp_1",
        resource: "ip_policies",
        status: 200,
        code: undefined,
        operationId: undefined,
        seconds: expect.any(Number),
        outcome: "ok",
      },
    ]);
    expect(events[0]?.seconds).toBeGreaterThan(0);
  });

  test("succeeds although the observer throws", async () => {
    const warned = vi.spyOn(process, "emitWarning").mockReturnValue();
    const { url } = await serve((response) => json(response, 201, { id: "ipp_1" }));
    const { client } = connect(url, {
      onExchange: () => {
        throw new RangeError("not me");
      },
    });
    await expect(client.create(ipPolicies, {})).resolves.toEqual({ id: "ipp_1" });
    expect(warned).toHaveBeenCalledWith("onExchange threw RangeError");
    warned.mockRestore();
  });

  test("reports the date of answers, also of refusals, unless they come from a cache", async () => {
    const answers = [
      [200, "Thu, 01 Jan 2026 00:00:01 GMT", "0"],
      [404, "Thu, 01 Jan 2026 00:00:02 GMT", "0"],
      [200, "Thu, 01 Jan 2026 00:00:03 GMT", "7"],
    ] as const;
    const left = [...answers];
    const { url } = await serve((response) => {
      const [status, date, age] = left.shift() ?? answers[0];
      response.setHeader("date", date);
      response.setHeader("age", age);
      json(response, status, { id: "ipp_1" });
    });
    const dates: string[] = [];
    const { client } = connect(url, { onDate: (date) => dates.push(date) });
    for (const _ of answers) await client.get(ipPolicies, "ipp_1").catch(() => undefined);
    expect(dates).toEqual(answers.slice(0, 2).map(([, date]) => date));
  });

  test("is never retried", async () => {
    const { url, seen } = await serve((response, { url }) =>
      url.endsWith("1") ? json(response, 503, {}, { "retry-after": "0" }) : response.socket?.resetAndDestroy(),
    );
    const { client } = connect(url);
    await expect(client.get(ipPolicies, "ipp_1")).rejects.toThrow();
    await expect(client.get(ipPolicies, "ipp_2")).rejects.toThrow();
    expect(seen).toHaveLength(2);
  });

  test("leaves no listener on the caller's signal", async () => {
    const { url } = await serve((response) => json(response, 200, { id: "ipp_1" }));
    const { client } = connect(url);
    const { signal } = new AbortController();
    await Promise.all(Array.from({ length: 30 }, () => client.get(ipPolicies, "ipp_1", { signal })));
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  test("uses a given dispatcher, and does not close it", async () => {
    const { url } = await serve((response) => json(response, 200, { id: "ipp_1" }));
    const { Agent } = await import("undici");
    const dispatcher = new Agent();
    onTestFinished(() => dispatcher.close());
    const { client } = connect(url, { dispatcher });
    await client.close();
    await expect(client.get(ipPolicies, "ipp_1")).resolves.toEqual({ id: "ipp_1" });
  });
});
