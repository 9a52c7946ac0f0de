import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { createSecureServer } from "node:http2";
import type { AddressInfo } from "node:net";
import type { Dispatcher } from "undici";
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import { serve } from "../../test/support/gateway-service.ts";
import { selfSigned } from "../../tools/simulator/certificates/self-signed.ts";
import { newDispatcher } from "./dispatcher.ts";
import { type Request, send } from "./send.ts";

let dispatcher: Dispatcher;

afterEach(() => dispatcher.destroy());

/** A server that answers so, and a dispatcher with a single connection to it. */
async function answering(answer: (response: ServerResponse) => unknown): Promise<string> {
  const { url } = await serve(answer);
  dispatcher = newDispatcher({ proxy: undefined, connections: 1 });
  return new URL(url).origin;
}

const get = (origin: string, stop?: AbortSignal, more: Partial<Request> = {}) =>
  send(dispatcher, { origin, path: "/", method: "GET", headers: {}, ...more }, stop);

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

  it("is the one after those that announce it", async () => {
    const origin = await answering((response) => {
      response.writeEarlyHints({ link: "</a.css>; rel=preload" });
      setTimeout(() => response.writeHead(201).end("made"), 20);
    });
    expect(await get(origin)).toMatchObject({ got: "answer", status: 201, body: "made" });
  });

  it("has not begun when it was only announced", async () => {
    const origin = await answering((response) =>
      response.writeEarlyHints({ link: "</a.css>; rel=preload" }, () => response.destroy()),
    );
    expect(await get(origin)).toMatchObject({ got: "nothing", sent: true });
  });

  it.each([
    ["says", [6, 6, 6]],
    ["does not say", [0, 3, 6]],
  ])("is measured as it arrives, when it %s how long it is", async (says, expected) => {
    const lengths: number[] = [];
    let more = () => {};
    const origin = await answering((response) => {
      response.writeHead(200, says === "says" ? { "content-length": "6" } : {});
      response.write("abc");
      more = () => response.end("def");
    });
    const onAnswer = (bytes: number) => {
      // the head, then the first part
      if (lengths.push(bytes) === 2) more();
    };
    expect(await get(origin, undefined, { onAnswer })).toMatchObject({ got: "answer", body: "abcdef" });
    expect(lengths).toEqual(expected);
  });

  it("is read no further when it becomes too long", async () => {
    const { promise: closed, resolve: close } = Promise.withResolvers<void>();
    const origin = await answering((response) => {
      response.on("close", close);
      response.write("abcdef");
    });
    const why = new Error("too long");
    const onAnswer = (bytes: number) => {
      if (bytes > 5) throw why;
    };
    expect(await get(origin, undefined, { onAnswer })).toMatchObject({ got: "head", status: 200, refused: true, why });
    await closed;
  });

  it("is a head alone when the connection breaks before its end", async () => {
    const origin = await answering((response) => {
      response.writeHead(201, { "content-length": "10" });
      response.write("abc", () => response.destroy());
    });
    expect(await get(origin)).toMatchObject({ got: "head", status: 201, refused: false });
  });
});

it("a request that may not be sent when its turn comes is not, and the next one is", async () => {
  const { url, seen } = await serve((response) => response.end("ok"));
  dispatcher = newDispatcher({ proxy: undefined, connections: 1 });
  const { origin } = new URL(url);
  const why = new Error("too late");
  const assertMaySend = () => {
    throw why;
  };
  expect(await get(origin, undefined, { path: "/late", assertMaySend })).toMatchObject({
    got: "nothing",
    sent: false,
    why,
  });
  expect(await get(origin, undefined, { path: "/next" })).toMatchObject({ got: "answer", body: "ok" });
  expect(seen.map((one) => one.url)).toEqual(["/next"]);
});

it("a request is sent with its method, its headers and its body", async () => {
  const { url, seen } = await serve((response) => response.end());
  dispatcher = newDispatcher({ proxy: undefined });
  const request = { origin: new URL(url).origin, path: "/keys?limit=2", method: "POST", headers: { "x-one": "1" } };
  await send(dispatcher, { ...request, body: "{}" }, undefined);
  await send(dispatcher, request, undefined);
  const sent = { method: "POST", url: "/keys?limit=2", headers: expect.objectContaining({ "x-one": "1" }) };
  expect(seen).toMatchObject([
    { ...sent, body: "{}" },
    { ...sent, body: "" },
  ]);
});

it("a server that talks HTTP/2 as well is talked to in HTTP/1.1", async () => {
  const { certificatePem: cert, privateKeyPem: key } = selfSigned({ commonName: "localhost", dnsNames: ["localhost"] });
  const versions: string[] = [];
  const server = createSecureServer({ cert, key, allowHTTP1: true }, (request, response) => {
    versions.push(request.httpVersion);
    response.end("ok");
  });
  server.listen(0);
  await once(server, "listening");
  onTestFinished(() => void server.close());
  dispatcher = newDispatcher({ proxy: undefined, tls: { ca: cert } });
  const { port } = server.address() as AddressInfo;
  expect(await get(`https://localhost:${port}`)).toMatchObject({ got: "answer", body: "ok" });
  expect(versions).toEqual(["1.1"]);
});

describe("a stop", () => {
  it("that came before the request sends nothing", async () => {
    let requests = 0;
    const origin = await answering((response) => {
      requests += 1;
      response.end();
    });
    const why = new Error("enough");
    expect(await get(origin, AbortSignal.abort(why))).toMatchObject({ got: "nothing", sent: false, why });
    expect(await get(origin)).toMatchObject({ got: "answer" });
    expect(requests).toBe(1);
  });

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
