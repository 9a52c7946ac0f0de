import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { type ClientOptions, type ExchangeEvent, GatewayClient } from "../../src/gateway/client.ts";

export interface Seen {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export type Respond = (response: ServerResponse, seen: Seen) => void;

/** An HTTP server that answers with `respond` and records its requests. It is closed when the test ends. */
export async function serve(respond: Respond): Promise<{ url: string; seen: Seen[] }> {
  const seen: Seen[] = [];
  // as most servers have it: with the five seconds of node, a slow client finds its connections closed
  const server = createServer({ keepAliveTimeout: 60_000 }, async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const one = { method: request.method ?? "", url: request.url ?? "", headers: request.headers, body };
    seen.push(one);
    respond(response, one);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

/** A client, and the exchanges that it reports. It is closed when the test ends. */
export function connect(baseURL: string, options: Partial<ClientOptions> = {}) {
  const events: ExchangeEvent[] = [];
  const client = new GatewayClient({
    baseURL,
    apiKey: "key-of-the-test-account",
    proxies: {},
    onExchange: (e) => events.push(e),
    ...options,
  });
  onTestFinished(() => client.close());
  return { client, events };
}

export function json(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

/** Options for `inspect`, to see everything that a logger could print of a value. */
export const everything = { depth: 10, showHidden: true, maxStringLength: null };
