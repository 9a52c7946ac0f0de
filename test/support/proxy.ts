import { createServer, request } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect, type Server, type Socket } from "node:net";
import { type TLSSocket, createServer as terminate } from "node:tls";
import type { KeyedCertificate } from "../../tools/simulator/certificates/self-signed.ts";

export interface ProxySettings {
  /** Where the proxy finds hosts, by `host:port`, as they are named in requests. It refuses all others with 403. */
  readonly hosts: Readonly<Record<string, number>>;
  /** `user:password`. Without them a request is answered with 407. */
  readonly credentials?: string;
  /** Clients reach the proxy by https. */
  readonly certificate?: KeyedCertificate;
}

/** A proxy as companies have them: CONNECT for https, and whole URLs for http. It records what it was asked for. */
export class TestProxy implements AsyncDisposable {
  readonly asked: string[] = [];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #settings: ProxySettings;

  private constructor(settings: ProxySettings) {
    this.#settings = settings;
    const { certificate } = settings;
    const server = certificate
      ? createTlsServer({ cert: certificate.certificatePem, key: certificate.privateKeyPem })
      : createServer();
    server.on("connection", (socket) => this.#keep(socket));
    server.on("connect", ({ url = "", headers }, socket, head) => {
      this.asked.push(`CONNECT ${url}`);
      const refusal = this.#refusal(url, headers["proxy-authorization"]);
      if (refusal) return socket.end(`HTTP/1.1 ${refusal} No\r\ncontent-length: 0\r\n\r\n`);
      const far = this.#keep(connect(settings.hosts[url] ?? 0, "127.0.0.1"));
      far.on("connect", () => {
        socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
        far.write(head);
        socket.pipe(far).pipe(socket);
      });
      socket.on("error", () => far.destroy()).on("close", () => far.destroy());
      far.on("close", () => socket.destroy());
    });
    server.on("request", (from, response) => {
      this.asked.push(`${from.method} ${from.url}`);
      const { host, pathname, search } = new URL(from.url ?? "");
      const refusal = this.#refusal(host, from.headers["proxy-authorization"]);
      if (refusal) return response.writeHead(refusal).end();
      const { "proxy-authorization": _, ...headers } = from.headers;
      const to = { host: "127.0.0.1", port: settings.hosts[host], path: `${pathname}${search}` };
      from.pipe(
        request({ ...to, method: from.method, headers, agent: false }, (answer) =>
          answer.pipe(response.writeHead(answer.statusCode ?? 502, answer.headers)),
        ),
      );
    });
    this.#server = server;
  }

  static async start(settings: ProxySettings): Promise<TestProxy> {
    const proxy = new TestProxy(settings);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  /** Its address, with the credentials that it asks for, or with others. */
  url(credentials = this.#settings.credentials): string {
    const scheme = this.#settings.certificate ? "https" : "http";
    return `${scheme}://${credentials ? `${credentials}@` : ""}localhost:${portOf(this.#server)}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #refusal(host: string, authorization: string | undefined): number | undefined {
    const { credentials, hosts } = this.#settings;
    const wanted = `Basic ${Buffer.from(decodeURIComponent(credentials ?? "")).toString("base64")}`;
    if (credentials && authorization !== wanted) return 407;
    return host in hosts ? undefined : 403;
  }

  #keep(socket: Socket): Socket {
    this.#sockets.add(socket);
    return socket.on("error", () => {}).on("close", () => this.#sockets.delete(socket));
  }
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

export interface TlsFront extends AsyncDisposable {
  readonly port: number;
  /** The common names of the client certificates, one for each connection that showed a valid one. */
  readonly clients: readonly string[];
}

/** Serves by TLS what `port` serves without. With `clientCA`, only clients with such a certificate are let in. */
export async function tlsFront(port: number, own: KeyedCertificate, clientCA?: string): Promise<TlsFront> {
  const clients: string[] = [];
  const sockets = new Set<Socket>();
  const asking = clientCA === undefined ? {} : { requestCert: true, ca: clientCA };
  const server = terminate({ cert: own.certificatePem, key: own.privateKeyPem, ...asking }, (near: TLSSocket) => {
    if (clientCA !== undefined) clients.push(String(near.getPeerCertificate().subject.CN));
    const far = connect(port, "127.0.0.1");
    near.pipe(far).pipe(near);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const)
      one.on("error", () => other.destroy()).on("close", () => other.destroy());
  });
  server.on("connection", (socket) => sockets.add(socket)).on("tlsClientError", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: portOf(server),
    clients,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
