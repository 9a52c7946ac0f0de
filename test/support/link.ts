import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, connect, createServer, isIP, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse, stringify } from "yaml";

/** One connection through a link, from both of its ends. */
interface Pair {
  readonly near: Socket;
  readonly far: Socket | undefined;
  /** What comes is lost, and nobody is told. */
  lost: boolean;
}

/** A wire between a client and a server, which knows nothing of what it carries and can break in every way. */
export class Link {
  readonly #server: Server;
  readonly #to: URL;
  readonly #pairs = new Set<Pair>();
  #dark = false;

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

  get open(): number {
    return this.#pairs.size;
  }

  /** Resets every connection, on both sides. */
  cut(): void {
    for (const pair of this.#pairs) this.#reset(pair);
  }

  /** From now on nothing passes any more, on old and on new connections, and nobody is told. */
  darken(): void {
    this.#dark = true;
    this.strand();
  }

  /** Ends the darkness. Whoever still holds one of the connections that were lost in it learns so now. */
  lighten(): void {
    this.#dark = false;
    for (const pair of this.#pairs) if (pair.lost) this.#reset(pair);
  }

  /** Loses the connections there are: the server sees their end, the client nothing, now or ever. New ones work. */
  strand(): void {
    for (const pair of this.#pairs) {
      pair.lost = true;
      pair.far?.resetAndDestroy();
    }
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.cut();
    await closed;
  }

  #join(near: Socket): void {
    const far = this.#dark ? undefined : connect(Number(this.#to.port) || 443, this.#to.hostname);
    const pair: Pair = { near, far, lost: this.#dark };
    this.#pairs.add(pair);
    near.on("data", (chunk) => pair.lost || far?.write(chunk));
    far?.on("data", (chunk) => pair.lost || near.write(chunk));
    near.on("end", () => pair.lost || far?.end());
    far?.on("end", () => pair.lost || near.end());
    for (const socket of [near, far]) socket?.on("error", () => {});
    near.on("close", () => {
      this.#pairs.delete(pair);
      far?.destroy();
    });
    far?.on("close", () => pair.lost || near.destroy());
  }

  #reset({ near, far }: Pair): void {
    near.resetAndDestroy();
    far?.resetAndDestroy();
  }
}

export interface LinkedKubeconfig {
  readonly path: string;
  /** Holds the token, where one was given; it is read again as a pod's is. */
  readonly tokenFile: string;
  readonly remove: () => Promise<void>;
}

/** A kubeconfig like another one, by way of a link. A token takes the place of its user. */
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
