import { request } from "undici";
import { afterEach, describe, expect, it } from "vitest";
import { eventLoopCheck } from "./event-loop.ts";
import { type HealthOptions, HealthServer, parseAddress } from "./health.ts";

let health: HealthServer;
afterEach(() => health?.close());

const metrics = { contentType: "text/plain; version=0.0.4", metrics: async () => "up 1\n" };

async function serve(options: Partial<HealthOptions> = {}) {
  health = new HealthServer({ address: "127.0.0.1:0", metrics, ...options });
  const { host, port } = await health.listen();
  return async (path: string, method: "GET" | "POST" = "GET") => {
    const { statusCode, headers, body } = await request(`http://${host}:${port}${path}`, { method });
    return { status: statusCode, type: headers["content-type"], body: await body.text() };
  };
}

describe("HealthServer", () => {
  it("shows for each check whether it passes, and why not", async () => {
    let reason: string | undefined = "things.example.dev: not listed yet";
    const get = await serve({ readiness: { informers: () => reason, account: () => undefined } });
    expect(await get("/readyz")).toMatchObject({
      status: 503,
      body: "[-] informers: things.example.dev: not listed yet\n[+] account\nfailed\n",
    });
    reason = undefined;
    expect(await get("/readyz?verbose")).toMatchObject({ status: 200, body: "[+] informers\n[+] account\nok\n" });
  });

  it("has separate checks for liveness and readiness", async () => {
    const get = await serve({ readiness: { never: () => "no" }, liveness: {} });
    expect((await get("/healthz")).status).toBe(200);
  });

  it("serves the metrics", async () => {
    const get = await serve();
    expect(await get("/metrics")).toEqual({ status: 200, type: "text/plain; version=0.0.4", body: "up 1\n" });
  });

  it("answers when metrics or a check throw, and stays up", async () => {
    const broken = () => {
      throw new TypeError("a fault in the program");
    };
    const get = await serve({ metrics: { ...metrics, metrics: async () => broken() }, readiness: { broken } });
    expect(await get("/metrics")).toMatchObject({ status: 500, body: "a fault in the program\n" });
    expect(await get("/readyz")).toMatchObject({ status: 503, body: "[-] broken: a fault in the program\nfailed\n" });
    expect((await get("/healthz")).status).toBe(200);
  });

  it.each([
    ["/elsewhere", "GET", 404],
    ["/metrics", "POST", 405],
  ] as const)("refuses %s %s", async (path, method, status) => {
    const get = await serve();
    expect((await get(path, method)).status).toBe(status);
  });

  it("rejects when the port is taken", async () => {
    health = new HealthServer({ address: "127.0.0.1:0", metrics });
    const { port } = await health.listen();
    await expect(new HealthServer({ address: `127.0.0.1:${port}`, metrics }).listen()).rejects.toMatchObject({
      code: "EADDRINUSE",
    });
  });

  it("does not wait for connections that are kept alive when it closes", async () => {
    const get = await serve();
    await get("/healthz");
    await health.close();
    await expect(get("/healthz")).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });
});

it.each([
  [":8080", { port: 8080 }],
  ["127.0.0.1:0", { host: "127.0.0.1", port: 0 }],
  ["[::1]:9000", { host: "::1", port: 9000 }],
])("understands the address %s", (address, expected) => {
  expect(parseAddress(address)).toEqual(expected);
});

it.each(["8080", "localhost", ":http", ":70000", "localhost:"])("refuses the address %s", (address) => {
  expect(() => parseAddress(address)).toThrow("Not an address");
});

it("does not take the time between two looks for a lag", async () => {
  using check = eventLoopCheck({ limitSeconds: 0.25, everyMs: 200 });
  for (let turn = 0; turn < 4; turn += 1) {
    const end = performance.now() + 150;
    while (performance.now() < end);
    await new Promise((resolve) => setTimeout(resolve, 130));
  }
  expect(check()).toBeUndefined();
});

it("reports the event loop as late only while it is", async () => {
  using check = eventLoopCheck({ limitSeconds: 0.03, everyMs: 20 });
  for (let turn = 0; turn < 5; turn += 1) {
    const end = performance.now() + 60;
    while (performance.now() < end);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  expect(check()).toContain("late");
});
