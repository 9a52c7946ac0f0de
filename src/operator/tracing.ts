import { AsyncLocalStorage } from "node:async_hooks";
import { readFileSync } from "node:fs";
import type { Agent } from "node:http";
import type { Attributes, Context, Tracer } from "@opentelemetry/api";
import type { TracesConfig } from "../config.ts";
import type { ExchangeEvent } from "../gateway/client.ts";
import { conditionOf, type Status } from "../objects/object.ts";
import type { Request, Result } from "../runtime/controller/controller.ts";
import { OPERATOR_NAME } from "../schema/contract.ts";

/** A span for each reconcile, and for each request to the service. */
export interface Tracing {
  /** Runs a reconcile of an object of this kind in a span. */
  reconcile(kind: string, request: Request, run: () => Promise<Result>): Promise<Result>;
  /** Adds the object's final status to the span of the reconcile that runs. */
  describe(status: Status | undefined): void;
  /** The span of an exchange belongs to the reconcile that sent it. A list may serve several, and belongs to the first. */
  onExchange(event: ExchangeEvent): void;
  /** Sends what has not been sent yet. Never rejects. */
  close(): Promise<void>;
}

/** State that the span of a reconcile shares with the spans of its requests. */
interface Running {
  readonly about: Attributes;
  readonly context: Context;
  readonly describe: (attributes: Attributes) => void;
}

/**
 * Sends spans with OTLP over HTTP to the address in `OTEL_EXPORTER_OTLP_ENDPOINT`; the packages read that, and the other
 * variables for the exporter. They know no proxies. They are loaded only here. A collector that is away costs nothing but
 * its spans.
 *
 * No span has a message, a body or a query: names of objects, ids, reasons and codes are all that leaves the process.
 */
export async function startTracing(version: string, { proxy, files }: TracesConfig): Promise<Tracing> {
  const [
    api,
    { BatchSpanProcessor, TracerProvider },
    { OTLPTraceExporter },
    { defaultResource, resourceFromAttributes },
  ] = await Promise.all([
    import("@opentelemetry/api"),
    import("@opentelemetry/sdk-trace"),
    import("@opentelemetry/exporter-trace-otlp-http"),
    import("@opentelemetry/resources"),
  ]);
  const service = resourceFromAttributes({ "service.name": OPERATOR_NAME, "service.version": version });
  const exporter = new OTLPTraceExporter(
    proxy ? { httpAgentOptions: (protocol) => agentThrough(proxy, files, protocol) } : {},
  );
  const provider = new TracerProvider({
    resource: defaultResource().merge(service),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  return tracingWith(provider.getTracer(OPERATOR_NAME, version), api, () => provider.shutdown());
}

/** The agent that the exporter would make itself, but with a proxy on the way. */
async function agentThrough(proxy: URL, files: TracesConfig["files"], protocol: string): Promise<Agent> {
  const common = { keepAlive: true, proxyEnv: { HTTP_PROXY: proxy.href, HTTPS_PROXY: proxy.href } };
  if (protocol === "http:") return new (await import("node:http")).Agent(common);
  const given = Object.entries(files).flatMap(([part, file]) => (file ? [[part, readFileSync(file)]] : []));
  return new (await import("node:https")).Agent({ ...common, ...Object.fromEntries(given) });
}

type Api = Pick<typeof import("@opentelemetry/api"), "ROOT_CONTEXT" | "SpanKind" | "SpanStatusCode" | "trace">;

function tracingWith(
  tracer: Tracer,
  { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace }: Api,
  end: () => Promise<void>,
): Tracing {
  const running = new AsyncLocalStorage<Running>();
  return {
    async reconcile(kind, { namespace, name, attempt, reconcileID }, run) {
      const about = { ...object(kind, namespace, name), "tunnelgateway.attempt": attempt };
      const attributes = { ...about, "tunnelgateway.reconcile_id": reconcileID };
      const span = tracer.startSpan(`reconcile ${kind}`, { attributes }, ROOT_CONTEXT);
      const context = trace.setSpan(ROOT_CONTEXT, span);
      const describe = (more: Attributes) => span.setAttributes(more);
      try {
        const result = await running.run({ about, context, describe }, run);
        span.setAttribute("tunnelgateway.result", Object.keys(result)[0] ?? "done");
        if ("error" in result) span.setStatus({ code: SpanStatusCode.ERROR });
        return result;
      } catch (error) {
        span.setStatus({ code: SpanStatusCode.ERROR });
        throw error;
      } finally {
        span.end();
      }
    },
    describe(status) {
      const { id } = status ?? {};
      const reason = conditionOf(status, "Ready")?.reason;
      running.getStore()?.describe({
        ...(id !== undefined && { "tunnelgateway.id": id }),
        ...(reason !== undefined && { "tunnelgateway.reason": reason }),
      });
    },
    onExchange({ method, route, path, resource, status, outcome, seconds }) {
      const { about = {}, context = ROOT_CONTEXT } = running.getStore() ?? {};
      const endTime = Date.now();
      const attributes = {
        ...about,
        "http.request.method": method,
        "http.route": route,
        "url.path": path,
        "tunnelgateway.resource": resource,
        "tunnelgateway.reason": outcome,
        ...(status !== undefined && { "http.response.status_code": status }),
      };
      const startTime = endTime - seconds * 1000;
      const span = tracer.startSpan(`${method} ${route}`, { kind: SpanKind.CLIENT, attributes, startTime }, context);
      if (outcome !== "ok") span.setStatus({ code: SpanStatusCode.ERROR });
      span.end(endTime);
    },
    close: () => end().catch(() => undefined),
  };
}

const object = (kind: string, namespace: string, name: string): Attributes => ({
  "tunnelgateway.kind": kind,
  "k8s.namespace.name": namespace,
  "tunnelgateway.object": name,
});
