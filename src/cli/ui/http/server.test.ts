import { once } from "node:events";
import { request, type ServerResponse } from "node:http";
import { connect } from "node:net";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { html } from "../view/html.ts";
import { page, text } from "./reply.ts";
import { LARGEST_BYTES, type Listening, listen } from "./server.ts";

const token = "t".repeat(43);
const LONG = "a node é ".repeat(1_000);
let server: Listening;
let posted = 0;

const site = {
  get: async ({ pathname }: URL) => page(pathname === "/long" ? html`<p>${LONG}</p>` : html`<p>here</p>`),
  post: async () => {
    posted += 1;
    return text("planned", 200);
  },
  follow: () => false,
};

beforeAll(async () => {
  server = await listen(site, { port: 0, token });
});
afterAll(() => server[Symbol.asyncDispose]());

interface Sent {
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

async function send({ method = "GET", path = "/", headers = {}, body }: Sent) {
  const cookie = `tunnelgateway-${server.port}=${token}`;
  const sent = request({ host: "127.0.0.1", port: server.port, method, path, headers: { cookie, ...headers } });
  sent.on("error", () => {});
  sent.end(body);
  const [answer] = await once(sent, "response");
  const bytes = await buffer(answer);
  const said = (answer.headers["content-encoding"] === "gzip" ? gunzipSync(bytes) : bytes).toString();
  return { status: answer.statusCode as number, headers: answer.headers, said, size: bytes.length };
}

test("a page has a strict policy, is kept nowhere, and names no place but this", async () => {
  const { status, said, headers } = await send({});
  expect({ status, said }).toEqual({ status: 200, said: "<!doctype html><p>here</p>" });
  expect(headers["content-security-policy"]).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'/);
  expect(headers["content-security-policy"]).not.toMatch(/unsafe|\*|https?:/);
  expect(headers).toMatchObject({ "cache-control": "no-store", "x-content-type-options": "nosniff" });
});

test.each<[string | undefined, boolean]>([
  ["gzip", true],
  ["br, gzip;q=0.5", true],
  ["deflate, GZIP ; q=1.0", true],
  [undefined, false],
  ["identity", false],
  ["gzip;q=0", false],
  ["gzip; q=0.000, br", false],
  ["x-gzip-not", false],
])("a client that takes %s gets a long page compressed: %s", async (accepted, isCompressed) => {
  const headers: Record<string, string> = accepted === undefined ? {} : { "accept-encoding": accepted };
  const answer = await send({ path: "/long", headers });
  expect(answer.said).toBe(`<!doctype html><p>${LONG}</p>`);
  expect(answer.headers["content-encoding"]).toBe(isCompressed ? "gzip" : undefined);
  expect(answer.headers.vary).toBe("accept-encoding");
  expect(answer.size < LONG.length / 5).toBe(isCompressed);
  expect((await send({ headers })).headers["content-encoding"]).toBeUndefined();
});

test.each<[string, Sent, number]>([
  ["another host", { headers: { host: "evil.example" } }, 421],
  ["another origin", { headers: { origin: "https://evil.example" } }, 403],
  ["no cookie", { headers: { cookie: "" } }, 403],
  ["another method", { method: "PUT" }, 405],
  ["a path of another host", { path: "//evil.example" }, 400],
  [
    "a body that says that it is too large",
    { method: "POST", path: "/plan", headers: { "content-length": String(LARGEST_BYTES + 1) } },
    413,
  ],
  [
    "a body that is too large",
    {
      method: "POST",
      path: "/plan",
      headers: { "transfer-encoding": "chunked" },
      body: Buffer.alloc(LARGEST_BYTES + 1),
    },
    413,
  ],
])("%s is refused in one line", async (_, sent, status) => {
  const answer = await send(sent);
  expect(answer.status).toBe(status);
  expect(answer.said).toMatch(/^[^\n]+\n$/);
  expect(answer.headers["content-security-policy"]).toBeDefined();
  expect(posted).toBe(0);
});

const head = (port: number, line: string, more = "") =>
  `${line} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncookie: tunnelgateway-${port}=${token}\r\n${more}\r\n`;

// Each has one limit alone, so that no other one ends it.
const never = { headMs: 0, requestMs: 0, idleMs: 0 };

test.each<[string, (port: number) => string, object]>([
  ["head", () => "GET / HTTP/1.1\r\n", { headMs: 200 }],
  ["body", (port) => `${head(port, "POST /plan", "content-length: 9000000\r\n")}a piece`, { requestMs: 400 }],
])("a client that is slow with the %s of its request is cut off", async (_, sent, patience) => {
  await using own = await listen(site, { port: 0, token }, { ...never, ...patience });
  const socket = connect(own.port, "127.0.0.1");
  socket.on("error", () => {});
  const begun = performance.now();
  socket.write(sent(own.port));
  await once(socket.resume(), "close");
  // the limits that Node has by itself are a minute and five
  expect(performance.now() - begun).toBeLessThan(45_000);
  expect(posted).toBe(0);
});

test("a client that does not read its answer is cut off", async () => {
  const cut = Promise.withResolvers<boolean>();
  const endless = {
    ...site,
    get: async () => text("a".repeat(50_000_000), 200),
    follow: (_: URL, response: ServerResponse) => {
      response.once("close", () => cut.resolve(!response.writableFinished));
      return false;
    },
  };
  await using own = await listen(endless, { port: 0, token }, { ...never, idleMs: 400 });
  const socket = connect(own.port, "127.0.0.1");
  socket.on("error", () => {});
  socket.write(head(own.port, "GET /"));
  expect(await cut.promise).toBe(true);
  socket.destroy();
});
