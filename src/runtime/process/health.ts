import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { textOf } from "../log.ts";

// An import would load all that node:http exports, and with it the fetch and the WebSockets of Node: 13 MiB.
const { createServer } = createRequire(import.meta.url)("node:http") as typeof import("node:http");

/** Returns what is wrong, or undefined when nothing is. */
export type Check = () => string | undefined;

export interface HealthOptions {
  /** `:8080`, `127.0.0.1:8080` or `[::1]:8080`. Port 0 takes any free port. */
  address: string;
  metrics: { contentType: string; metrics(): Promise<string> };
  /** If one fails, the kubelet restarts the pod. */
  liveness?: Readonly<Record<string, Check>>;
  /** If one fails, the pod is not ready. */
  readiness?: Readonly<Record<string, Check>>;
}

/** Serves /metrics, /healthz and /readyz. The body has a line for each check, with the reason when it fails. */
export class HealthServer {
  readonly #options: HealthOptions;
  #server: Server | undefined;

  constructor(options: HealthOptions) {
    this.#options = options;
  }

  /** Resolves with the address once the server listens; rejects when it cannot listen. */
  async listen(): Promise<{ host: string; port: number }> {
    // an error while a probe or scrape is answered must not end the process
    const server = createServer((request, response) => {
      this.#serve(request, response).catch((error) => respond(response, 500, `${textOf(error)}\n`));
    });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.once("error", reject);
    server.listen(parseAddress(this.#options.address), resolve);
    await promise;
    this.#server = server;
    const { address: host, port } = server.address() as AddressInfo;
    return { host, port };
  }

  async close(): Promise<void> {
    const server = this.#server;
    if (!server) return;
    this.#server = undefined;
    await new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
  }

  async #serve({ method, url = "/" }: IncomingMessage, response: ServerResponse): Promise<void> {
    const { metrics, liveness = {}, readiness = {} } = this.#options;
    if (method !== "GET" && method !== "HEAD") return respond(response, 405, "Only GET and HEAD\n");
    switch (url.split("?")[0]) {
      case "/metrics":
        return respond(response, 200, await metrics.metrics(), metrics.contentType);
      case "/healthz":
        return report(response, liveness);
      case "/readyz":
        return report(response, readiness);
      default:
        return respond(response, 404, "Serving /metrics, /healthz and /readyz\n");
    }
  }
}

function report(response: ServerResponse, checks: Readonly<Record<string, Check>>): void {
  const results = Object.entries(checks).map(([name, check]) => ({ name, reason: reasonOf(check) }));
  const lines = results.map(({ name, reason }) => (reason === undefined ? `[+] ${name}` : `[-] ${name}: ${reason}`));
  const healthy = results.every(({ reason }) => reason === undefined);
  respond(response, healthy ? 200 : 503, `${[...lines, healthy ? "ok" : "failed"].join("\n")}\n`);
}

function reasonOf(check: Check): string | undefined {
  try {
    return check();
  } catch (error) {
    return textOf(error);
  }
}

function respond(
  response: ServerResponse,
  status: number,
  body: string,
  contentType = "text/plain; charset=utf-8",
): void {
  response.writeHead(status, { "content-type": contentType, "content-length": Buffer.byteLength(body) });
  response.end(body);
}

export function parseAddress(address: string): { host?: string; port: number } {
  const colon = address.lastIndexOf(":");
  const port = Number(address.slice(colon + 1));
  if (colon === -1 || address.endsWith(":") || !Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new Error(`Not an address to listen on: ${address}`);
  }
  const host = address.slice(0, colon).replace(/^\[|\]$/g, "");
  return host ? { host, port } : { port };
}
