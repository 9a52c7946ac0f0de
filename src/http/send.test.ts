import type { ServerResponse } from "node:http";
import type { Dispatcher } from "undici";
import { afterEach, describe, expect, it } from "vitest";
import { serve } from "../../test/support/gateway-service.ts";
import { newDispatcher } from "./dispatcher.ts";
import { send } from "./send.ts";

let dispatcher: Dispatcher;

afterEach(() => dispatcher.destroy());

/** A server that answers so, and a dispatcher with a single connection to it. */
async function answering(answer: (response: ServerResponse) => unknown): Promise<string> {
  const { url } = await serve(answer);
  dispatcher = newDispatcher({ proxy: undefined, connections: 1 });
  return new URL(url).origin;
}

const get = (origin: string, stop?: AbortSignal) =>
  send(dispatcher, { origin, path: "/", method: "GET", headers: {} }, stop);

describe("the answer", () => {
  it("is text, without the mark of its byte order, in one part or several", async () => {
    const origin = await answering((response) => {
      response.write(Buffer.from([0xef, 0xbb, 0xbf, 0xc3]));
      setImmediate(() => response.end(Buffer.from([0xa4])));
    });
    expect(await get(origin)).toMatchObject({ got: "answer", status: 200, body: "ä" });
  });

  it("may be empty", async () => {
    const origin = await answering((response) => response.writeHead(204).end());
    expect(await get(origin)).toMatchObject({ got: "answer", status: 204, body: "" });
  });

  it("is a head alone when the connection breaks before its end", async () => {
    const origin = await answering((response) => {
      response.writeHead(201, { "content-length": "10" });
      response.write("abc", () => response.destroy());
    });
    expect(await get(origin)).toMatchObject({ got: "head", status: 201, refused: false });
  });
});

describe("a stop", () => {
  it("ends a request that waits for a connection at once, and nothing of it is sent", async () => {
    const held: ServerResponse[] = [];
    const origin = await answering((response) => held.push(response));
    const first = get(origin);
    const caller = new AbortController();
    const second = get(origin, caller.signal);
    caller.abort(new Error("enough"));
    expect(await second).toMatchObject({ got: "nothing", sent: false, why: new Error("enough") });
    while (held.length === 0) await new Promise(setImmediate);
    held[0]?.end();
    expect(await first).toMatchObject({ got: "answer" });
    expect(held).toHaveLength(1);
  });

  it("ends an answer that does not end", async () => {
    const origin = await answering((response) => response.writeHead(200).write("abc"));
    const caller = new AbortController();
    const reply = get(origin, caller.signal);
    setTimeout(() => caller.abort(new Error("enough")), 50);
    expect(await reply).toMatchObject({ got: expect.stringMatching(/head|nothing/), why: new Error("enough") });
  });

  it("by closing the dispatcher fails what is under way", async () => {
    const origin = await answering(() => {});
    const reply = get(origin);
    await new Promise((resolve) => setTimeout(resolve, 50));
    await dispatcher.destroy();
    expect(await reply).toMatchObject({ got: "nothing" });
  });
});

it("a dispatcher that throws has sent nothing", async () => {
  await answering(() => {});
  const throwing = {
    dispatch: () => {
      throw new Error("no such header");
    },
  } as unknown as Dispatcher;
  const reply = await send(throwing, { origin: "http://x.test", path: "/", method: "GET", headers: {} }, undefined);
  expect(reply).toMatchObject({ got: "nothing", sent: false, why: new Error("no such header") });
});
