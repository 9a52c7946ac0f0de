import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

type Value = { stringValue?: string; intValue?: number | string };

interface SentSpan {
  spanId: string;
  parentSpanId?: string;
  name: string;
  attributes: { key: string; value: Value }[];
}

export interface Span {
  readonly id: string;
  readonly parent: string | undefined;
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** A collector for OpenTelemetry that takes traces by OTLP over HTTP, as JSON, and keeps them. */
export class Collector implements AsyncDisposable {
  readonly url: string;
  /** The bodies, as they came. */
  readonly bodies: string[];
  readonly #close: () => Promise<void>;

  private constructor(url: string, bodies: string[], close: () => Promise<void>) {
    this.url = url;
    this.bodies = bodies;
    this.#close = close;
  }

  static async start(): Promise<Collector> {
    const bodies: string[] = [];
    const server = createServer(async (request, response) => {
      if (request.url === "/v1/traces") bodies.push(await text(request));
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const close = () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    return new Collector(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies, close);
  }

  get spans(): Span[] {
    return this.bodies.flatMap((body) => {
      const { resourceSpans } = JSON.parse(body) as { resourceSpans: { scopeSpans: { spans: SentSpan[] }[] }[] };
      return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans.map(read)));
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#close();
  }
}

const read = ({ spanId, parentSpanId, name, attributes }: SentSpan): Span => ({
  id: spanId,
  parent: parentSpanId || undefined,
  name,
  attributes: Object.fromEntries(
    attributes.map(({ key, value: { stringValue, intValue } }) => [key, String(stringValue ?? intValue)]),
  ),
});
