import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { request as secureRequest } from "node:https";
import type { AddressInfo } from "node:net";

export interface Recorded {
  method: string;
  /** With its query. */
  path: string;
  status: number;
}

export interface RecordingProxy extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly Recorded[];
  /** Default true. If false, it refuses to stream lists, like API servers before Kubernetes 1.32. */
  streamsLists: boolean;
}

/** Forwards all requests to an API server, and records them with their status. */
export async function startRecordingProxy(target: string): Promise<RecordingProxy> {
  const requests: Recorded[] = [];
  const server = createServer({ keepAliveTimeout: 60_000 }, (incoming, answer) => {
    if (proxy.streamsLists || !incoming.url?.includes("sendInitialEvents=true"))
      pass(target, incoming, answer, requests);
    else answer.writeHead(422).end("{}");
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const proxy: RecordingProxy = {
    requests,
    streamsLists: true,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}

function pass(target: string, incoming: IncomingMessage, answer: ServerResponse, requests: Recorded[]): void {
  const { method = "GET", url: path = "/", headers } = incoming;
  const send = target.startsWith("https:") ? secureRequest : request;
  // The certificate belongs to a cluster that this process has started.
  const onward = send(new URL(path, target), { method, headers, rejectUnauthorized: false }, (response) => {
    requests.push({ method, path, status: response.statusCode ?? 0 });
    answer.writeHead(response.statusCode ?? 502, response.headers);
    response.pipe(answer);
  });
  onward.on("error", () => answer.destroy());
  answer.on("close", () => onward.destroy());
  incoming.pipe(onward);
}
