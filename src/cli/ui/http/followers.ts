import type { ServerResponse } from "node:http";

/** Changes come in waves. A page is told once of those that come within this time. */
const TOGETHER_MS = 250;

/** How often a page hears something, so that it knows that its server is there. */
const BEAT_MS = 5_000;

/** Most pages that are told. */
const MOST = 32;

/** Tells the open pages that something has changed: server-sent events without content. */
export class Followers implements Disposable {
  readonly #open = new Set<ServerResponse>();
  readonly #beat = setInterval(() => this.#send("beat"), BEAT_MS);
  #soon: NodeJS.Timeout | undefined;

  get count(): number {
    return this.#open.size;
  }

  add(response: ServerResponse): void {
    if (this.#open.size >= MOST) {
      response.writeHead(503).end();
      return;
    }
    response.socket?.setTimeout(0);
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("retry: 1000\nevent: beat\ndata:\n\n");
    this.#open.add(response);
    response.once("close", () => this.#open.delete(response));
  }

  changed(): void {
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      this.#send("change");
    }, TOGETHER_MS);
  }

  /** One that does not read is let go: it comes again by itself. */
  #send(event: "beat" | "change"): void {
    for (const response of this.#open) {
      if (response.writableNeedDrain) response.destroy();
      else response.write(`event: ${event}\ndata:\n\n`);
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#beat);
    clearTimeout(this.#soon);
    for (const response of this.#open) response.destroy();
  }
}
