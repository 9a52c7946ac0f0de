import { once } from "node:events";
import { IncomingMessage, request, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { Duplex } from "node:stream";
import { afterEach, expect, test, vi } from "vitest";
import { Followers } from "./followers.ts";
import { text } from "./reply.ts";
import { listen } from "./server.ts";

afterEach(() => {
  vi.useRealTimers();
});

/** The answer to a client that takes each piece, or none at all. */
function answerTo(client: "reads" | "does not read"): ServerResponse {
  const isReading = client === "reads";
  const write = (_: unknown, __: unknown, taken: () => void) => isReading && taken();
  const socket = Object.assign(new Duplex({ highWaterMark: isReading ? 1_000 : 1, read() {}, write }), {
    setTimeout: () => socket,
  });
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  response.assignSocket(socket as unknown as Socket);
  return response;
}

test("a client that does not read is let go at the next beat, and another one stays", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  using followers = new Followers();
  const [deaf, reading] = [answerTo("does not read"), answerTo("reads")];
  followers.add(deaf);
  followers.add(reading);
  expect(followers.count).toBe(2);
  const gone = once(deaf, "close");
  vi.advanceTimersByTime(5_000);
  await gone;
  expect(followers.count).toBe(1);
  expect(reading.destroyed).toBe(false);
});

test("of more pages than 32 one is refused until another is closed", async () => {
  using followers = new Followers();
  const site = {
    get: async () => text("here", 200),
    post: async () => text("here", 200),
    follow: (_: URL, response: ServerResponse) => {
      followers.add(response);
      return true;
    },
  };
  const token = "t".repeat(43);
  await using server = await listen(site, { port: 0, token });
  const headers = { cookie: `tunnelgateway-${server.port}=${token}` };
  const follow = async () => {
    const sent = request({ host: "127.0.0.1", port: server.port, path: "/events", headers, agent: false });
    sent.on("error", () => {});
    const [answer] = (await once(sent.end(), "response")) as [IncomingMessage];
    answer.on("error", () => {}).resume();
    return { status: answer.statusCode, leave: () => sent.destroy() };
  };
  const open = [];
  for (let count = 0; count < 32; count++) open.push(await follow());
  expect(new Set(open.map(({ status }) => status))).toEqual(new Set([200]));
  const refused = await follow();
  expect(refused.status).toBe(503);
  expect(followers.count).toBe(32);
  open[0]?.leave();
  await expect.poll(() => followers.count).toBe(31);
  expect((await follow()).status).toBe(200);
});
