import { parseArgs } from "node:util";
import { onInterrupt } from "../shared/interrupt.ts";
import type { RouteId } from "./settings.ts";
import { startSimulator } from "./simulator.ts";

const { values } = parseArgs({
  options: {
    host: { type: "string" },
    port: { type: "string" },
    "api-key": { type: "string" },
    seed: { type: "string" },
    "page-size": { type: "string" },
    "provision-ms": { type: "string" },
    "restart-ms": { type: "string" },
    "update-ms": { type: "string" },
    "latency-ms": { type: "string" },
    "list-lag-ms": { type: "string" },
    "rate-limit": { type: "string" },
    "in-use-status": { type: "string" },
    documented: { type: "boolean" },
    // edghts_...:edghtsrt_...
    route: { type: "string", multiple: true },
  },
});

function number(name: Exclude<keyof typeof values, "route" | "documented">): number | undefined {
  const text = values[name];
  if (text === undefined) return undefined;
  if (!/^\d+$/.test(text)) throw new Error(`--${name} must be a number`);
  return Number(text);
}

function routeOf(text: string): RouteId {
  const [edgeId = "", routeId = ""] = text.split(":");
  return { edgeId, routeId };
}

const simulator = await startSimulator({
  host: values.host,
  port: number("port"),
  apiKey: values["api-key"],
  seed: number("seed"),
  pageSize: number("page-size"),
  certificates: { provisionMs: number("provision-ms") },
  sessions: { restartMs: number("restart-ms"), updateMs: number("update-ms") },
  latencyMs: number("latency-ms"),
  listLagMs: number("list-lag-ms"),
  rateLimitPerMinute: number("rate-limit") || undefined,
  inUseStatus: number("in-use-status") === 409 ? 409 : 400,
  undocumented: !values.documented,
  routes: values.route?.map(routeOf),
});

onInterrupt(() => void simulator.stop().then(() => process.exit(0)));

console.log(JSON.stringify({ url: simulator.url, apiKey: simulator.apiKey }));
