import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, connect, createServer, isIP, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse, stringify } from "yaml";

/** The two sockets of one connection through a link. */
interface Pair {
  readonly near: Socket;
  readonly far: Socket | undefined;
  /** Data is dropped, and both ends stay open. */
  isDropping: boolean;
}

/** A TCP proxy between a client and a server, which can break connections in every way. It knows no protocol. */
export class Link {
  readonly #server: Server;
  readonly #to: URL;
  readonly #pairs = new Set<Pair>();
  #isDropping = false;

  private constructor(to: URL) {
    this.#to = to;
    this.#server = createServer((near) => this.#join(near));
  }

  static async to(server: string): Promise<Link> {
    const link = new Link(new URL(server));
    await new Promise<void>((resolve) => link.#server.listen(0, "127.0.0.1", resolve));
    return link;
  }

  get url(): string {
    return `${this.#to.protocol}//127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Resets every connection, on both sides. */
  cut(): void {
    for (const pair of this.#pairs) this.#reset(pair);
  }

  /** Drops all data from now on, on old and new connections, without closing them. */
  startDropping(): void {
    this.#isDropping = true;
    this.dropConnections();
  }

  /** Stops dropping data. Resets the connections that lost some. */
  stopDropping(): void {
    this.#isDropping = false;
    for (const pair of this.#pairs) if (pair.isDropping) this.#reset(pair);
  }

  /** Drops all data of the present connections. The server sees their end, the client never does. New ones work. */
  dropConnections(): void {
    for (const pair of this.#pairs) {
      pair.isDropping = true;
      pair.far?.resetAndDestroy();
    }
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.cut();
    await closed;
  }

  #join(near: Socket): void {
    const far = this.#isDropping ? undefined : connect(Number(this.#to.port) || 443, this.#to.hostname);
    const pair: Pair = { near, far, isDropping: this.#isDropping };
    this.#pairs.add(pair);
    near.on("data", (chunk) => pair.isDropping || far?.write(chunk));
    far?.on("data", (chunk) => pair.isDropping || near.write(chunk));
    near.on("end", () => pair.isDropping || far?.end());
    far?.on("end", () => pair.isDropping || near.end());
    for (const socket of [near, far]) socket?.on("error", () => {});
    near.on("close", () => {
      this.#pairs.delete(pair);
      far?.destroy();
    });
    far?.on("close", () => pair.isDropping || near.destroy());
  }

  #reset({ near, far }: Pair): void {
    near.resetAndDestroy();
    far?.resetAndDestroy();
  }
}

export interface LinkedKubeconfig {
  readonly path: string;
  /** The file with the token, if one was given. It is read again when it changes, as in a pod. */
  readonly tokenFile: string;
  readonly remove: () => Promise<void>;
}

/** A copy of a kubeconfig that connects through a link. A token replaces its credentials. */
export async function linkedKubeconfig(kubeconfig: string, link: Link, token?: string): Promise<LinkedKubeconfig> {
  const directory = await mkdtemp(join(tmpdir(), "tunnel-gateway-link-"));
  const [path, tokenFile] = [join(directory, "kubeconfig"), join(directory, "token")];
  const config = parse(await readFile(kubeconfig, "utf8"));
  for (const { cluster } of config.clusters) {
    const { hostname } = new URL(cluster.server);
    if (!isIP(hostname)) cluster["tls-server-name"] ??= hostname;
    cluster.server = link.url;
  }
  if (token !== undefined) {
    await writeFile(tokenFile, token, { mode: 0o600 });
    for (const one of config.users) one.user = { tokenFile };
  }
  await writeFile(path, stringify(config), { mode: 0o600 });
  return { path, tokenFile, remove: () => rm(directory, { recursive: true }) };
}
