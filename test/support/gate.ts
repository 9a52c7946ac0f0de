import { mkdtemp, rm, writeFile } from "node:fs/promises";
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as requestHTTP,
  type Server,
  type ServerResponse,
} from "node:http";
import { request as requestHTTPS } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConnection } from "../../src/runtime/connection/kubeconfig.ts";
import { kubeconfigFor } from "../../tools/shared/kubeconfig.ts";

/** A request that goes through a gate. */
export interface ProxiedRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Before the request reaches the server behind the gate, and after the server has answered. */
export type Side = "before" | "after";

/** An answer that the caller gets instead of the answer of the server. `raw` is written to the connection as it is. */
export type Substitute =
  | { readonly status: number; readonly body: string; readonly headers?: Readonly<Record<string, string>> }
  | { readonly raw: string };

/** Called before and after each request. It can delay the request, record it, or answer instead of the server. */
export type Guard = (passage: ProxiedRequest, side: Side) => Promise<Substitute | undefined> | Substitute | undefined;

interface Behind {
  readonly server: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly tls?: object;
}

/**
 * An HTTP proxy in front of a server, for tests that must know which request a process makes. Once a request is let in,
 * it reaches the server even if the caller has disconnected, as it would in a network.
 */
export class Gate {
  readonly #server: Server;
  readonly #behind: Behind;
  readonly #watches = new Set<Watch>();
  guard: Guard = () => undefined;

  protected constructor(behind: Behind) {
    this.#behind = behind;
    this.#server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
      this.#serve(request, response).catch(() => response.destroy());
    });
  }

  static async before(server: string): Promise<Gate> {
    const gate = new Gate({ server });
    await gate.listen();
    return gate;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Ends every watch that goes through it, with this last line. */
  endWatches(line: string): void {
    for (const watch of this.#watches) watch.end(line);
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  protected listen(): Promise<void> {
    return new Promise((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", url: path = "", headers } = request;
    const passage = { method, path, headers, body: await textOf(request) };
    const refusal = await this.guard(passage, "before");
    if (refusal) return substitute(response, refusal);
    const answer = await this.#forward(passage);
    response.once("close", () => answer.destroy());
    const other = await this.guard(passage, "after");
    if (response.destroyed) {
      answer.destroy();
      return;
    }
    if (other) return substitute(response, other);
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    if (isWatch(passage)) this.#watch(answer, response);
    else answer.pipe(response);
  }

  #watch(answer: IncomingMessage, response: ServerResponse): void {
    const watch = new Watch(answer, response);
    this.#watches.add(watch);
    response.once("close", () => this.#watches.delete(watch));
  }

  #forward({ method, path, headers, body }: ProxiedRequest): Promise<IncomingMessage> {
    const { server, headers: more, tls } = this.#behind;
    const send = server.startsWith("https:") ? requestHTTPS : requestHTTP;
    return new Promise((resolve, reject) => {
      const options = { ...tls, method, headers: { ...headers, ...more } };
      send(server + path, options, resolve)
        .once("error", reject)
        .end(body);
    });
  }
}

export const isWatch = ({ path }: Pick<ProxiedRequest, "path">): boolean => /[?&]watch=true(&|$)/.test(path);

/** A gate in front of an API server. It adds the credentials of a kubeconfig to every request. */
export class ClusterGate extends Gate {
  readonly #directory: string;

  private constructor(behind: Behind, directory: string) {
    super(behind);
    this.#directory = directory;
  }

  static async beforeCluster(kubeconfig: string): Promise<ClusterGate> {
    const { server, credentials } = loadConnection({ kubeconfig });
    const directory = await mkdtemp(join(tmpdir(), "tunnel-gateway-kubeconfig-"));
    const gate = new ClusterGate({ server, ...(await credentials({ fresh: false })) }, directory);
    await gate.listen();
    await writeFile(gate.kubeconfig, kubeconfigFor({ server: gate.url }));
    return gate;
  }

  /** A kubeconfig for the gate, without credentials. It is removed when the gate is closed. */
  get kubeconfig(): string {
    return join(this.#directory, "kubeconfig");
  }

  override async close(): Promise<void> {
    await super.close();
    await rm(this.#directory, { recursive: true });
  }
}

/** Forwards the lines of a watch, and can end it between two lines. */
class Watch {
  readonly #answer: IncomingMessage;
  readonly #response: ServerResponse;
  #betweenLines = true;
  #last: string | undefined;

  constructor(answer: IncomingMessage, response: ServerResponse) {
    this.#answer = answer;
    this.#response = response;
    response.flushHeaders();
    answer.on("data", (chunk: Buffer) => {
      response.write(chunk);
      this.#betweenLines = chunk.at(-1) === 0x0a;
      this.#finish();
    });
    answer.once("end", () => response.end());
    answer.once("error", () => response.destroy());
  }

  end(line: string): void {
    this.#last = line;
    this.#finish();
  }

  #finish(): void {
    if (this.#last === undefined || !this.#betweenLines) return;
    this.#answer.destroy();
    this.#response.end(`${this.#last}\n`);
  }
}

function substitute(response: ServerResponse, given: Substitute): void {
  if ("raw" in given) {
    response.socket?.end(given.raw);
    return;
  }
  response.writeHead(given.status, { "content-type": "application/json", ...given.headers }).end(given.body);
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
