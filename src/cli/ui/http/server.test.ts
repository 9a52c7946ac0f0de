import { once } from "node:events";
import { request } from "node:http";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { html } from "../view/html.ts";
import { page, text } from "./reply.ts";
import { LARGEST_BYTES, type Listening, listen } from "./server.ts";

const token = "t".repeat(43);
let server: Listening;
let posted = 0;

beforeAll(async () => {
  const site = {
    get: async () => page(html`<p>here</p>`),
    post: async () => {
      posted += 1;
      return text("planned", 200);
    },
    follow: () => false,
  };
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
  let said = "";
  for await (const piece of answer) said += piece;
  return { status: answer.statusCode as number, headers: answer.headers, said };
}

test("a page has a strict policy, is kept nowhere, and names no place but this", async () => {
  const { status, said, headers } = await send({});
  expect({ status, said }).toEqual({ status: 200, said: "<!doctype html><p>here</p>" });
  expect(headers["content-security-policy"]).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'/);
  expect(headers["content-security-policy"]).not.toMatch(/unsafe|\*|https?:/);
  expect(headers).toMatchObject({ "cache-control": "no-store", "x-content-type-options": "nosniff" });
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

test("a client that is slow with its request is cut off", async () => {
  const socket = connect(server.port, "127.0.0.1");
  socket.on("error", () => {});
  socket.write("GET / HTTP/1.1\r\n");
  const since = performance.now();
  await once(socket.resume(), "close");
  expect(performance.now() - since).toBeLessThan(10_000);
});
