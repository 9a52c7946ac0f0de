import { clusterRequests, type Labels, sumOf } from "./metrics.ts";

/** What an operator serves to probes and Prometheus. */
export class Endpoints {
  readonly #said: (text: string) => Promise<string>;
  #url: string | undefined;

  /** `said` resolves with the first line of its log that contains a text. */
  constructor(said: (text: string) => Promise<string>) {
    this.#said = said;
  }

  /** Resolves with its address when it serves metrics and health. It does so even if it does not lead. */
  async url(): Promise<string> {
    if (this.#url === undefined) {
      const { host, port } = JSON.parse(await this.#said('"Serving metrics and health"'));
      this.#url = `http://${host}:${port}`;
    }
    return this.#url;
  }

  async read(path: "/metrics" | "/healthz" | "/readyz"): Promise<string> {
    // A kept connection may be closed by the server at the moment when it is used again.
    const headers = { connection: "close" };
    return (await fetch(`${await this.url()}${path}`, { headers })).text();
  }

  /** See `sumOf`. */
  async metric(name: string, labels: Labels = {}): Promise<number> {
    return sumOf(await this.read("/metrics"), name, labels);
  }

  /** The numbers of its requests to the API server so far. */
  async clusterRequests(): Promise<{ reads: number; writes: number }> {
    return clusterRequests(await this.read("/metrics"));
  }
}
