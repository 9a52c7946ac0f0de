import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { CommandError } from "../../terminal/terminal.ts";
import { type Place, refusalOf, urlOf } from "./guard.ts";
import { HEADERS, type Reply, text } from "./reply.ts";

/** The most that a request may have in its body. */
export const LARGEST_BYTES = 10_000_000;

/** What a browser has open at once, of several pages. */
const CONNECTIONS = 64;

/** How long a client may take for the head of its request, for all of it, and for taking a piece of its answer. */
const PATIENCE = { headMs: 3_000, requestMs: 30_000, idleMs: 60_000 };

/** What the server asks of the page. No method throws. */
export interface Site {
  get: (url: URL) => Promise<Reply>;
  /** `body`: what was sent, whole. */
  post: (url: URL, type: string, body: Buffer<ArrayBuffer>) => Promise<Reply>;
  /**
   * Whether this path is that of the events. If so, the site takes the response, which then gets each event until its
   * client goes.
   */
  follow: (url: URL, response: ServerResponse) => boolean;
}

export interface Listening extends AsyncDisposable {
  port: number;
}

/**
 * Serves on this machine alone, to who has the token. A client that is slow with its request, or does not read its
 * answer, is cut off. Throws CommandError where the port cannot be had.
 */
export async function listen(site: Site, given: Place, patience = PATIENCE): Promise<Listening> {
  // A copy, since each request is compared with it, and it changes: when the system has chosen its port, and when a
  // request has used the one-time token.
  const place = { ...given };
  const server = createServer({ connectionsCheckingInterval: 1_000 }, (request, response) => {
    answer(request, response, { site, place }).catch(() => response.destroy());
  });
  Object.assign(server, {
    headersTimeout: patience.headMs,
    requestTimeout: patience.requestMs,
    keepAliveTimeout: 5_000,
  });
  server.maxConnections = CONNECTIONS;
  server.setTimeout(patience.idleMs);
  await opened(server, given.port);
  place.port = (server.address() as AddressInfo).port;
  return {
    port: place.port,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function opened(server: Server, port: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen(port, "127.0.0.1", resolve);
  await promise.catch((error: NodeJS.ErrnoException) => {
    if (error.code === "EADDRINUSE")
      throw new CommandError(`Give another --port, or 0 for one that is free: ${port} is in use`, { cause: error });
    throw new CommandError(`Give another --port: ${port} cannot be had (${error.code})`, { cause: error });
  });
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { site, place }: { site: Site; place: Place },
): Promise<void> {
  const { method = "", url = "", headers } = request;
  for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
  const { host, origin, cookie } = headers;
  const refusal = refusalOf({ method, url, host, origin, cookie }, place);
  if (refusal && "location" in refusal) {
    response.writeHead(303, { location: refusal.location, "set-cookie": refusal.cookie }).end();
    return;
  }
  if (refusal) return send(response, text(refusal.line, refusal.status), { isLast: true });
  const target = urlOf({ url }) as URL;
  if (method !== "POST") return site.follow(target, response) ? undefined : send(response, await site.get(target));
  const body = await bodyOf(request);
  if (!body)
    return send(response, text(`Send less: at most ${LARGEST_BYTES / 1_000_000} MB are read`, 413), { isLast: true });
  send(response, await site.post(target, headers["content-type"] ?? "", body));
}

/** Compressed where the client takes that. `isLast`: whatever the client goes on to send is not read. */
async function send(response: ServerResponse, { status, type, body }: Reply, { isLast = false } = {}): Promise<void> {
  if (isLast) response.setHeader("connection", "close");
  const isSmaller = body.length > SMALL && takesGzip(response.req.headers["accept-encoding"]);
  const sent = isSmaller ? await gzipped(body) : body;
  const encoding = isSmaller && { "content-encoding": "gzip" };
  response.writeHead(status, { "content-type": type, vary: "accept-encoding", ...encoding }).end(sent);
}

const gzipped = promisify(gzip);

/** A text of fewer characters is sent in one packet anyway. */
const SMALL = 1_000;

/** Whether a client says so of itself. With the quality 0 it says that it does not. */
const takesGzip = (accepted: string | string[] = ""): boolean =>
  String(accepted)
    .split(",")
    .some((one) => /^\s*gzip\s*(;(?!\s*q=0(\.0*)?\s*$)|$)/i.test(one));

/** In memory alone. Undefined: it is too large. */
async function bodyOf(request: IncomingMessage): Promise<Buffer<ArrayBuffer> | undefined> {
  if (Number(request.headers["content-length"] ?? 0) > LARGEST_BYTES) return undefined;
  const pieces: Buffer[] = [];
  let size = 0;
  // not left by `break`, which would end the connection before the answer is sent
  for await (const piece of request as AsyncIterable<Buffer>) {
    size += piece.length;
    if (size <= LARGEST_BYTES) pieces.push(piece);
    if (size > 2 * LARGEST_BYTES) request.destroy();
  }
  return size > LARGEST_BYTES ? undefined : Buffer.concat(pieces);
}
