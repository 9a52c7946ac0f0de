import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { selfSigned } from "../../simulator/certificates/self-signed.ts";

export type Answer = string | Buffer | ((request: IncomingMessage, response: ServerResponse) => void);

/** A server with files, over HTTPS with a certificate that nobody knows. */
export interface FileServer extends AsyncDisposable {
  readonly url: string;
  /** Trusts its certificate. */
  readonly ca: string;
  /** What it answers, by path. Anything else is 404. */
  readonly files: Map<string, Answer>;
  /** The paths that were asked for, in order. */
  readonly asked: string[];
}

export async function startFileServer(): Promise<FileServer> {
  const { certificatePem: cert, privateKeyPem: key } = selfSigned({ commonName: "files", ips: ["127.0.0.1"] });
  const files = new Map<string, Answer>();
  const asked: string[] = [];
  const server = createServer({ cert, key }, (request, response) => {
    const path = request.url ?? "";
    asked.push(path);
    const answer = files.get(path);
    if (typeof answer === "function") answer(request, response);
    else response.writeHead(answer === undefined ? 404 : 200).end(answer);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://127.0.0.1:${port}`,
    ca: cert,
    files,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
