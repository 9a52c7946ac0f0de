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

/** A request on its way through a gate. */
export interface Passage {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Before it reaches the server behind the gate, and after that has answered. */
export type Side = "before" | "after";

/** What the caller gets instead of what the server says. `raw` is written to the connection as it is. */
export type Substitute =
  | { readonly status: number; readonly body: string; readonly headers?: Readonly<Record<string, string>> }
  | { readonly raw: string };

/** Waited for on each side of each request: it may hold the request, note it, or answer in the server's place. */
export type Guard = (passage: Passage, side: Side) => Promise<Substitute | undefined> | Substitute | undefined;

interface Behind {
  readonly server: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly tls?: object;
}

/**
 * An HTTP server in front of another one, for tests that have to know where exactly a process is. A request that was
 * let in reaches the server behind it even when the caller is gone by then, as one in the network would.
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

  /** Ends every watch that goes through it, with a last line from the server. */
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

  #forward({ method, path, headers, body }: Passage): Promise<IncomingMessage> {
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

export const isWatch = ({ path }: Pick<Passage, "path">): boolean => /[?&]watch=true(&|$)/.test(path);

/** A gate in front of an API server. Whoever comes has the rights of the kubeconfig. */
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

  /** A file that names the gate and no credential. It is there until the gate is closed. */
  get kubeconfig(): string {
    return join(this.#directory, "kubeconfig");
  }

  override async close(): Promise<void> {
    await super.close();
    await rm(this.#directory, { recursive: true });
  }
}

/** Passes lines on, and comes between two of them. */
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
