import type { ServerResponse } from "node:http";
import type { KubeObject } from "../../../src/runtime/object.ts";
import type { Written } from "./fake-storage.ts";

/** The server side of an open watch, with all the ways in which it can fail. */
export class FakeWatch {
  readonly #response: ServerResponse;
  readonly #namespace: string | undefined;
  #muted = false;
  #pieces = 1;

  constructor(response: ServerResponse, namespace: string | undefined) {
    this.#response = response;
    this.#namespace = namespace;
    response.writeHead(200, { "content-type": "application/json" });
    response.flushHeaders();
  }

  event({ type, object }: Pick<Written, "type" | "object">): void {
    if (this.#namespace === undefined || object.metadata.namespace === this.#namespace) this.#line({ type, object });
  }

  bookmark(revision: number, annotations?: Record<string, string>): void {
    const metadata = { resourceVersion: String(revision), ...(annotations && { annotations }) };
    this.#line({ type: "BOOKMARK", object: { apiVersion: "v1", kind: "Any", metadata } as unknown as KubeObject });
  }

  /** An ERROR inside the stream, after which a real server ends it. */
  fail(code: number, reason: string): void {
    this.#line({ type: "ERROR", object: { kind: "Status", code, reason, message: reason, metadata: {} } });
    this.end();
  }

  end(): void {
    this.#response.end();
  }

  reset(): void {
    this.#response.socket?.resetAndDestroy();
  }

  /** Ends the stream in the middle of a line. */
  truncate(): void {
    if (!this.#response.writableEnded) this.#response.end('{"type":"MODIFIED","object":{"metadata":{"name":"ha');
  }

  /** Sends nothing any more, as if the connection were dead without being closed. */
  mute(): void {
    this.#muted = true;
  }

  /** Sends each line in this many pieces from now on. */
  slow(pieces: number): void {
    this.#pieces = pieces;
  }

  #line(event: object): void {
    if (this.#muted || this.#response.writableEnded) return;
    const bytes = Buffer.from(`${JSON.stringify(event)}\n`);
    const length = Math.ceil(bytes.length / this.#pieces);
    for (let at = 0; at < bytes.length; at += length) this.#response.write(bytes.subarray(at, at + length));
  }
}
