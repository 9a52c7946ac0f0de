import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FakeApiServer } from "../../../test/fakes/runtime/fake-api-server.ts";
import { until } from "../../../test/fakes/runtime/until.ts";
import { VirtualClock } from "../../../test/fakes/runtime/virtual-clock.ts";
import { serve } from "../../../test/support/gateway-service.ts";
import type { Connection } from "./connection.ts";
import { KubeUnreachable } from "./errors.ts";
import { Transport, type TransportOptions } from "./transport.ts";

let server: FakeApiServer;
let transport: Transport;

beforeEach(async () => {
  server = await FakeApiServer.start();
});

afterEach(async () => {
  await transport.close();
  await server[Symbol.asyncDispose]();
});

/** Credentials from a list: each load takes the next, and throws it if it is an Error. */
function connect(tokens: (string | Error)[], options: TransportOptions = {}): { loads: boolean[] } {
  const loads: boolean[] = [];
  const connection: Connection = {
    server: server.url,
    async credentials({ fresh }) {
      loads.push(fresh);
      const token = tokens.length > 1 ? tokens.shift() : tokens[0];
      if (token instanceof Error) throw token;
      return { headers: { authorization: `Bearer ${token}` }, tls: {} };
    },
  };
  transport = new Transport(connection, options);
  return { loads };
}

const get = (signal?: AbortSignal) => transport.request({ method: "GET", path: "/api/v1/things", signal });
const absent = Object.assign(new Error("ENOENT: no such file"), { code: "ENOENT" });

describe("Transport", () => {
  it("reuses connections for requests that follow each other", async () => {
    connect(["t"]);
    for (let n = 0; n < 20; n += 1) await get();
    expect(server.sockets.size).toBeLessThanOrEqual(2);
  });

  it("does not delay requests by watches", async () => {
    connect(["t"]);
    const watches = Array.from({ length: 30 }, () =>
      transport.stream({ method: "GET", path: "/api/v1/things", query: { watch: true } }),
    );
    for (const { body } of await Promise.all(watches)) body.on("error", () => {});
    expect((await get()).status).toBe(200);
    expect(server.watches.size).toBe(30);
  });

  it("reads credentials again after a minute, and once for many requests", async () => {
    const clock = new VirtualClock();
    const { loads } = connect(["one", "two"], { clock });
    await Promise.all([get(), get()]);
    await clock.advance(59_000);
    await get();
    expect(loads).toHaveLength(1);
    await clock.advance(1_000);
    await get();
    expect(server.received.at(-1)?.headers.authorization).toBe("Bearer two");
  });

  it("repeats an exchange once with new credentials at a 401", async () => {
    server.token = "new";
    const { loads } = connect(["old", "new"]);
    expect((await get()).status).toBe(200);
    expect(loads).toEqual([false, true]);
  });

  it("repeats it also when the text of the 401 does not arrive", async () => {
    const { url } = await serve((response, { headers }) => {
      if (headers.authorization === "Bearer new") return response.end("{}");
      response.writeHead(401, { "content-length": "10" }).write("abc", () => response.destroy());
    });
    const tokens = ["old", "new"];
    const credentials = async () => ({ headers: { authorization: `Bearer ${tokens.shift()}` }, tls: {} });
    transport = new Transport({ server: url, credentials });
    expect((await get()).status).toBe(200);
  });

  it("does not repeat it at a second 401", async () => {
    server.token = "other";
    connect(["old"]);
    expect((await get()).status).toBe(401);
    expect(server.received).toHaveLength(2);
  });

  it("uses the old credentials while new ones cannot be read", async () => {
    const clock = new VirtualClock();
    connect(["one", absent, "two"], { clock });
    await get();
    await clock.advance(60_000);
    expect((await get()).status).toBe(200);
    await clock.advance(6_000);
    await get();
    expect(server.received.map(({ headers }) => headers.authorization)).toEqual([
      "Bearer one",
      "Bearer one",
      "Bearer two",
    ]);
  });

  it("fails as unreachable when there are no credentials at all", async () => {
    connect([absent, "t"]);
    await expect(get()).rejects.toMatchObject({ name: "KubeUnreachable", code: "ENOENT" });
    expect((await get()).status).toBe(200);
  });

  it("stops waiting for credentials when the caller aborts", async () => {
    transport = new Transport({ server: server.url, credentials: () => new Promise(() => {}) });
    const caller = new AbortController();
    const answer = get(caller.signal);
    caller.abort(new Error("enough"));
    await expect(answer).rejects.toThrow("enough");
  });

  it("throws a mistake of the program as it is, and does not call the server unreachable", async () => {
    connect([new TypeError("connect is not a function")]);
    await expect(get()).rejects.toThrow(TypeError);
  });

  it("reports each answer, and each missing answer", async () => {
    const answers: string[] = [];
    connect(["t"], { onAnswer: ({ code, method, host }) => answers.push(`${method} ${host} ${code}`) });
    server.faults.push({ status: 503 }, { reset: true });
    await get();
    await expect(get()).rejects.toBeInstanceOf(KubeUnreachable);
    const host = new URL(server.url).host;
    expect(answers).toEqual([`GET ${host} 503`, `GET ${host} <error>`]);
  });

  it("keeps the path of the server's URL, and encodes queries", async () => {
    transport = new Transport({ ...server.connection, server: `${server.url}/k8s/clusters/c-1/` });
    await transport.request({
      method: "GET",
      path: "/api/v1/things",
      query: { labelSelector: "a=b,c", limit: undefined, fieldManager: "a +&\ud800" },
    });
    expect(server.received[0]?.path).toBe("/k8s/clusters/c-1/api/v1/things");
    expect(server.received[0]?.query.get("labelSelector")).toBe("a=b,c");
    expect(server.received[0]?.query.get("fieldManager")).toBe("a +&\ufffd");
    expect(server.received[0]?.query.has("limit")).toBe(false);
  });

  it("has no connection after close, and opens none", async () => {
    connect(["t"]);
    const { body } = await transport.stream({ method: "GET", path: "/api/v1/things", query: { watch: true } });
    body.on("error", () => {});
    await transport.close();
    await until(() => server.sockets.size === 0);
    await expect(get()).rejects.toMatchObject({ code: "ECLOSED" });
  });
});
