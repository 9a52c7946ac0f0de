import { createServer as createNetServer } from "node:net";
import { inspect } from "node:util";
import { Agent, type Dispatcher } from "undici";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { connect, everything, json, serve } from "../../test/support/gateway-service.ts";
import type { ClientOptions } from "./client.ts";
import { GatewayError, isUnavailable } from "./errors.ts";
import { MAX_ANSWER_BYTES } from "./http/exchange.ts";
import { apiKeys, ipPolicies, tunnelSessions } from "./resources/index.ts";

async function failureOf(promise: Promise<unknown>): Promise<GatewayError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof GatewayError)) throw new Error("it did not fail as it should", { cause: error });
  return error;
}

/** The error of a call that must not reach the service. */
async function unsent(baseURL: string, options: Partial<ClientOptions> = {}) {
  const { client, events } = connect(baseURL, options);
  const error = await failureOf(client.create(ipPolicies, {}));
  expect(events.map(({ outcome }) => outcome)).toEqual(["unsent"]);
  expect(error).toMatchObject({ kind: "unsent", method: "POST", route: "/ip_policies", status: undefined });
  return error;
}

afterEach(() => {
  vi.useRealTimers();
});

describe("unsent: the service did not receive it", () => {
  test("connection refused", async () => {
    const server = createNetServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as { port: number };
    await new Promise((resolve) => server.close(resolve));
    const error = await unsent(`http://127.0.0.1:${port}`);
    expect(error.cause).toMatchObject({ code: "ECONNREFUSED" });
  });

  test("name not resolved", async () => {
    const lookup = (
      _: string,
      __: object,
      done: (error: NodeJS.ErrnoException, address: string, family: number) => void,
    ) => done(Object.assign(new Error("getaddrinfo ENOTFOUND"), { code: "ENOTFOUND" }), "", 0);
    const dispatcher = new Agent({ connect: { lookup } });
    onTestFinished(() => dispatcher.close());
    expect((await unsent("http://service.invalid", { dispatcher })).cause).toMatchObject({ code: "ENOTFOUND" });
  });

  test("TLS fails", async () => {
    const { url, seen } = await serve((response) => json(response, 201, { id: "ipp_1" }));
    await unsent(url.replace("http:", "https:"));
    expect(seen).toEqual([]);
  });

  test("stopped before the call", async () => {
    const { url, seen } = await serve((response) => json(response, 201, { id: "ipp_1" }));
    const { client } = connect(url);
    const error = await failureOf(client.create(ipPolicies, {}, { signal: AbortSignal.abort() }));
    expect(error).toMatchObject({ kind: "unsent", message: "POST /ip_policies: not sent: stopped by the caller" });
    expect(seen).toEqual([]);
  });

  test("no longer permitted when the key was read and a connection made", async () => {
    const { url, seen } = await serve((response) => json(response, 201, { id: "ipp_1" }));
    const key = Promise.withResolvers<string>();
    const { client } = connect(url, { apiKey: () => key.promise });
    let leads = true;
    const assertMaySend = () => {
      if (!leads) throw new Error("another leads");
    };
    const call = failureOf(client.create(ipPolicies, {}, { assertMaySend }));
    leads = false;
    key.resolve("key");
    expect(await call).toMatchObject({ kind: "unsent", message: "POST /ip_policies: not sent: another leads" });
    leads = true;
    await expect(client.create(ipPolicies, {}, { assertMaySend })).resolves.toMatchObject({ id: "ipp_1" });
    expect(seen).toHaveLength(1);
  });

  test("no longer permitted with the key that was read before the wait for a connection", async () => {
    const { url, seen } = await serve((response) => json(response, 201, { id: "ipp_1" }));
    let key = "first";
    const { client } = connect(url, { apiKey: async () => key });
    const assertMaySend = (sent: string) => {
      key = "second";
      if (sent !== key) throw new Error("another key is used by now");
    };
    expect(await failureOf(client.create(ipPolicies, {}, { assertMaySend }))).toMatchObject({ kind: "unsent" });
    await client.create(ipPolicies, {}, { assertMaySend });
    expect(seen).toHaveLength(1);
  });

  test("stopped while waiting for a connection, and not sent later either", async () => {
    const arrived = Promise.withResolvers<() => void>();
    const { url, seen } = await serve((response, { method }) => {
      if (method === "GET") arrived.resolve(() => json(response, 200, { id: "ipp_1" }));
      else json(response, 201, { id: "ipp_2" });
    });
    const dispatcher = new Agent({ connections: 1 });
    onTestFinished(() => dispatcher.close());
    const { client } = connect(url, { dispatcher });

    const first = client.get(ipPolicies, "ipp_1");
    const answerFirst = await arrived.promise;
    const stop = new AbortController();
    const second = failureOf(client.create(ipPolicies, {}, { signal: stop.signal }));
    setImmediate(() => stop.abort());
    expect((await second).kind).toBe("unsent");

    answerFirst();
    await first;
    await client.delete(ipPolicies, "ipp_3");
    expect(seen.map(({ method }) => method)).toEqual(["GET", "DELETE"]);
  });

  test.each([
    ["", "an empty key"],
    [" \n", "a blank key"],
    ["two\nlines", "a key that would break the header"],
    ["ключ", "a key no header can carry"],
  ])("no usable key: %j, %s", async (apiKey) => {
    const { url, seen } = await serve((response) => json(response, 201, { id: "ipp_1" }));
    const error = await unsent(url, { apiKey: () => apiKey });
    expect(error.message).toMatch(/API key (is empty|has characters that cannot be sent)/);
    expect(seen).toEqual([]);
  });

  test("a key source that fails, quoting the key", async () => {
    const { url } = await serve((response) => json(response, 201, { id: "ipp_1" }));
    const apiKey = () => Promise.reject(Object.assign(new Error("cannot parse hunter2-key"), { code: "EACCES" }));
    const error = await unsent(url, { apiKey });
    expect(error.message).toContain("EACCES");
    expect(inspect(error, everything)).not.toContain("hunter2");
  });

  test("a key source that takes too long", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { url } = await serve((response) => json(response, 201, { id: "ipp_1" }));
    const failing = unsent(url, { apiKey: () => new Promise(() => {}) });
    await vi.advanceTimersByTimeAsync(30_000);
    expect((await failing).message).toContain("timed out after 30 s while waiting for the API key");
  });

  test("a body that is not JSON", async () => {
    const { url, seen } = await serve((response) => json(response, 201, { id: "ipp_1" }));
    const error = await failureOf(connect(url).client.create(ipPolicies, { metadata: 1n }));
    expect(error.kind).toBe("unsent");
    expect(seen).toEqual([]);
  });

  test("an id that would address the collection, and an operation that the resource does not have", async () => {
    const { url, seen } = await serve((response) => response.writeHead(204).end());
    const { client } = connect(url);
    for (const failing of [
      client.delete(ipPolicies, ""),
      client.delete(ipPolicies, ".."),
      client.deleteSource("esb_1", ""),
      client.listSources(""),
      client.command("stop", ""),
      client.delete(tunnelSessions, "ts_1"),
      client.create(tunnelSessions, {}),
    ]) {
      expect((await failureOf(failing)).kind).toBe("unsent");
    }
    expect(seen).toEqual([]);
  });

  test("the client is closed", async () => {
    const { client } = connect("http://127.0.0.1:9");
    await client.close();
    await client.close();
    expect((await failureOf(client.get(ipPolicies, "ipp_1"))).kind).toBe("unsent");
  });
});

describe("unknown: sent, and no complete answer", () => {
  test("no answer in time", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { url } = await serve(() => vi.advanceTimersByTimeAsync(30_000));
    const { client, events } = connect(url);
    const error = await failureOf(client.create(ipPolicies, {}));
    expect(error).toMatchObject({ kind: "unknown", status: undefined });
    expect(error.message).toContain("timed out after 30 s");
    const confidential = await failureOf(client.create(ipPolicies, {}, { confidential: true }));
    expect(confidential.message).toBe(error.message);
    expect(events.slice(0, 1)).toMatchObject([{ outcome: "unknown", method: "POST", route: "/ip_policies" }]);
  });

  test("an answer that does not end in time", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { url } = await serve((response) => {
      response.writeHead(201, { "content-length": "100" }).write(`{"id":`, () => vi.advanceTimersByTimeAsync(5_000));
    });
    const error = await failureOf(connect(url, { timeoutMs: 5_000 }).client.create(ipPolicies, {}));
    expect(error.kind).toBe("unknown");
  });

  test("stopped by the caller after it was sent", async () => {
    const stop = new AbortController();
    const { url } = await serve(() => stop.abort());
    const error = await failureOf(connect(url).client.create(ipPolicies, {}, { signal: stop.signal }));
    expect(error.kind).toBe("unknown");
    expect(error.message).toContain("stopped by the caller");
  });

  test("reset", async () => {
    const { url } = await serve((response) => response.socket?.resetAndDestroy());
    expect((await failureOf(connect(url).client.create(ipPolicies, {}))).kind).toBe("unknown");
  });

  test("cut in the middle of a 201", async () => {
    const { url } = await serve((response) => {
      response.writeHead(201, { "content-length": "100" }).write(`{"id":"ipp_1"`, () => response.socket?.end());
    });
    expect(await failureOf(connect(url).client.create(ipPolicies, {}))).toMatchObject({ kind: "unknown", status: 201 });
  });

  test("an answer that is not HTTP, whose bytes are not kept", async () => {
    const { url } = await serve((response) => response.socket?.end("hunter2 is no status line\r\n\r\n"));
    for (const confidential of [false, true]) {
      const error = await failureOf(connect(url).client.create(ipPolicies, {}, { confidential }));
      expect(error.kind).toBe("unknown");
      expect(inspect(error, everything)).not.toContain("hunter2");
    }
  });
});

describe("a mistake of the program", () => {
  const mistaken = (when: "before" | "after"): Dispatcher => {
    const dispatcher = new Agent();
    onTestFinished(() => dispatcher.close());
    dispatcher.dispatch = (_, handler) => {
      const controller = { abort() {}, pause() {}, resume() {} } as never;
      if (when === "after") handler.onRequestStart?.(controller, undefined);
      const error = new TypeError("this[kClient].connect is not a function, hunter2-and-more");
      handler.onResponseError?.(controller, error);
      return true;
    };
    return dispatcher;
  };

  test.each([
    ["before", "unsent"],
    ["after", "unknown"],
  ] as const)("%s the request was written is no outage", async (when, kind) => {
    const { client, events } = connect("http://service.test", { dispatcher: mistaken(when) });
    const error = await failureOf(client.create(apiKeys, { description: "hunter2-and-more" }, { confidential: true }));
    expect(error).toMatchObject({ kind, fault: { name: "TypeError" } });
    expect(error.fault?.stack).toContain("failures.test.ts");
    expect(isUnavailable(error)).toBe(false);
    expect(inspect([error, events], everything)).not.toContain("hunter2");
  });
});

describe("unreadable: carried out, but the answer has the wrong form", () => {
  test.each([
    ["", undefined, "empty"],
    ["<html>", undefined, "not JSON"],
    ["{}", undefined, "no id"],
    [`{"id":"ak_1","token":7}`, "ak_1", "a member of a wrong type"],
    [`{"id":"ak_1","token":{"is":"hunter2"}}`, "ak_1", "a secret in the wrong place"],
    [`{"token":"hunter2" oops`, undefined, "a secret, and not JSON"],
  ])("answers 201 and %j", async (body, id, _why) => {
    const { url } = await serve((response) => response.writeHead(201).end(body));
    const error = await failureOf(connect(url).client.create(apiKeys, {}));
    expect(error).toMatchObject({ kind: "unreadable", status: 201, id });
    expect(inspect(error, everything)).not.toContain("hunter2");
  });

  test("answers a confidential request with names of the service's own", async () => {
    const { url } = await serve((response) => json(response, 201, { id: 7, "hunter2-and-more": [] }));
    const call = connect(url).client.create(apiKeys, { metadata: "hunter2-and-more" }, { confidential: true });
    expect((await failureOf(call)).message).toBe("POST /api_keys: 201 Created, but the answer is not as expected");
  });

  test("an answer about another resource than the one that was asked for", async () => {
    const { url } = await serve((response) => json(response, 200, { id: "ipp_2" }));
    const { client } = connect(url);
    for (const call of [client.get(ipPolicies, "ipp_1"), client.update(ipPolicies, "ipp_1", { description: "" })])
      expect(await failureOf(call)).toMatchObject({ kind: "unreadable", status: 200, id: undefined });
  });

  test("an answer that says it is too long", async () => {
    const { url } = await serve((response) => {
      response.writeHead(201, { "content-length": String(MAX_ANSWER_BYTES + 1) }).flushHeaders();
    });
    expect((await failureOf(connect(url).client.create(ipPolicies, {}))).kind).toBe("unreadable");
  });

  test("an answer that is too long without saying so", async () => {
    const { url } = await serve((response) => {
      response.on("error", () => {});
      const block = Buffer.alloc(1024 * 1024, " ");
      for (let sent = 0; sent <= MAX_ANSWER_BYTES; sent += block.length) response.write(block);
      response.end("{}");
    });
    expect((await failureOf(connect(url).client.create(ipPolicies, {}))).kind).toBe("unreadable");
  });
});

describe("a status that is not 2xx", () => {
  const body = { error_code: "ERR_440", status_code: 400, msg: "No\nsuch thing.", details: { operation_id: "op_1" } };

  test.each([
    [300, "redirected"],
    [304, "redirected"],
    [400, "refused"],
    [404, "refused"],
    [405, "refused"],
    [409, "refused"],
    [429, "limited"],
    [500, "failed"],
    [503, "failed"],
  ])("%i is %s", async (status, kind) => {
    const { url } = await serve((response) => json(response, status, body));
    const { client, events } = connect(url);
    const error = await failureOf(client.get(ipPolicies, "ipp_1"));
    expect(error).toMatchObject({ kind, status, method: "GET", route: "/ip_policies/{id}" });
    const about = { resource: "ip_policies", route: "/ip_policies/{id}", path: "/ip_policies/ipp_1" };
    // An answer with the status 304 has no body.
    const operationId = status === 304 ? undefined : "op_1";
    expect(events).toMatchObject([{ outcome: kind, status, operationId, ...about }]);
  });

  test("of a confidential request has status and code, and no words of the service", async () => {
    const secret = "hunter2-and-more";
    const headers = { "content-type": "application/json" };
    const quotes = [secret, secret.slice(0, 5), Buffer.from(secret).toString("base64"), secret.toUpperCase()];
    for (const msg of quotes) {
      const { url } = await serve((response) =>
        response.writeHead(400, headers).end(JSON.stringify({ ...body, msg, details: { operation_id: msg } })),
      );
      const { client, events } = connect(url);
      const error = await failureOf(client.create(ipPolicies, { metadata: secret }, { confidential: true }));
      expect(error.message).toBe("POST /ip_policies: 400 Bad Request (ERR_440)");
      expect(error).toMatchObject({ code: "ERR_440", serviceMessage: undefined, operationId: undefined });
      expect(inspect([error, events], everything)).not.toContain(msg);
    }
  });

  test.each([
    ["hunter2-and-more", "the secret"],
    ["hunter2-", "a part of it"],
    ["ERR_hunter2-and", "a part of it in other words"],
    [Buffer.from("hunter2-and-more").toString("base64url"), "an encoding of it"],
    ["no such policy", "words"],
  ])("of a confidential request has no code %j, %s", async (code) => {
    const { url } = await serve((response) => json(response, 400, { ...body, error_code: code }));
    const { client, events } = connect(url);
    const call = client.create(ipPolicies, { metadata: "hunter2-and-more" }, { confidential: true });
    expect((await failureOf(call)).message).toBe("POST /ip_policies: 400 Bad Request");
    expect(inspect(events, everything)).not.toContain(code);
  });

  test("has the code, message and operation id of the service", async () => {
    const { url } = await serve((response) => json(response, 400, body));
    const { client, events } = connect(url);
    expect(await failureOf(client.get(ipPolicies, "ipp_1"))).toMatchObject({
      code: "ERR_440",
      serviceMessage: "No such thing.",
      operationId: "op_1",
      message: "GET /ip_policies/{id}: 400 Bad Request (ERR_440): No such thing.",
    });
    expect(events[0]?.code).toBe("ERR_440");
  });

  test.each([
    ["", undefined, "nothing"],
    ["<html>Bad gateway</html>", undefined, "a page"],
    ["[]", undefined, "a list"],
    [`"no"`, undefined, "a string"],
    [`{"msg":{"a":1},"error_code":null,"details":"x"}`, undefined, "members of other types"],
    [`{"msg":"\\n"}`, undefined, "a blank message"],
    [`{"message":"Try later"}`, "Try later", "another usual name"],
    [`{"error":"Try later"}`, "Try later", "another usual name"],
  ])("reads the message of a 503 with %j", async (text, serviceMessage, _what) => {
    const { url } = await serve((response) => response.writeHead(503).end(text));
    const error = await failureOf(connect(url).client.get(ipPolicies, "ipp_1"));
    expect(error).toMatchObject({ kind: "failed", status: 503, serviceMessage });
    expect(error.message).toBe(
      `GET /ip_policies/{id}: 503 Service Unavailable${serviceMessage ? `: ${serviceMessage}` : ""}`,
    );
  });

  test("quotes plain text", async () => {
    const { url } = await serve((response) =>
      response.writeHead(502, { "content-type": "text/plain" }).end("no\nupstream"),
    );
    expect((await failureOf(connect(url).client.get(ipPolicies, "ipp_1"))).serviceMessage).toBe("no upstream");
  });

  test("keeps the kind of its status when the body is incomplete", async () => {
    const { url } = await serve((response) => {
      response.writeHead(429, { "content-length": "100", "retry-after": "7" }).write("{", () => response.socket?.end());
    });
    const error = await failureOf(connect(url).client.create(ipPolicies, {}));
    expect(error).toMatchObject({ kind: "limited", status: 429, retryAfterSeconds: 7 });
  });

  test.each([
    ["120", 120],
    ["0", 0],
    ["31536000", 3600],
    ["Thu, 01 Jan 2099 00:00:00 GMT", 3600],
    ["Thu, 01 Jan 1970 00:00:00 GMT", 0],
    ["soon", undefined],
  ])("reads retry-after %j", async (header, retryAfterSeconds) => {
    const { url } = await serve((response) => json(response, 503, {}, { "retry-after": header }));
    expect((await failureOf(connect(url).client.get(ipPolicies, "ipp_1"))).retryAfterSeconds).toBe(retryAfterSeconds);
  });

  test("reads retry-after as a date by the service's own clock", async () => {
    const headers = { date: "Thu, 01 Jan 2026 12:00:00 GMT", "retry-after": "Thu, 01 Jan 2026 12:01:00 GMT" };
    const { url } = await serve((response) => json(response, 503, {}, headers));
    expect((await failureOf(connect(url).client.get(ipPolicies, "ipp_1"))).retryAfterSeconds).toBe(60);
  });

  test("reads retry-after as a date", async () => {
    const date = new Date(Date.now() + 90_000).toUTCString();
    const { url } = await serve((response) => json(response, 503, {}, { "retry-after": date }));
    const { retryAfterSeconds } = await failureOf(connect(url).client.get(ipPolicies, "ipp_1"));
    expect(retryAfterSeconds).toBeGreaterThan(60);
    expect(retryAfterSeconds).toBeLessThanOrEqual(90);
  });

  test("does not follow a redirect", async () => {
    const elsewhere = await serve((response) => json(response, 200, { id: "ipp_1" }));
    const { url } = await serve((response) => response.writeHead(302, { location: elsewhere.url }).end());
    expect((await failureOf(connect(url).client.get(ipPolicies, "ipp_1"))).kind).toBe("redirected");
    expect(elsewhere.seen).toEqual([]);
  });
});
