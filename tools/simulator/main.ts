import { onInterrupt } from "../shared/interrupt.ts";
import { asText, defineProgram, flag, runProgram, seed, UsageError, wholeNumber } from "../shared/program.ts";
import type { RouteId } from "./settings.ts";
import { startSimulator } from "./simulator.ts";

const milliseconds = (about: string) => ({ value: "ms", about, initial: undefined, read: wholeNumber() });

const program = defineProgram({
  command: "node_modules/.bin/node tools/simulator/main.ts",
  about: "Serves the management API, and prints a line of JSON with its address and key. Stays until Ctrl-C.",
  options: {
    host: { value: "address", about: "to listen on", initial: undefined, initially: "127.0.0.1", read: asText },
    port: { value: "n", about: "to listen on", initial: undefined, initially: "any that is free", read: wholeNumber() },
    apiKey: { value: "token", about: "that is accepted", initial: undefined, initially: "a random one", read: asText },
    seed: seed("repeats ids, tokens and chances"),
    pageSize: {
      value: "n",
      about: "rows in a page of a list",
      initial: undefined,
      initially: "100",
      read: wholeNumber(1),
    },
    certificateStartMs: milliseconds("until the job of a certificate starts"),
    provisionMs: milliseconds("until a certificate is issued"),
    restartMs: milliseconds("until an agent is back after a restart"),
    updateMs: milliseconds("until an agent has an update"),
    latencyMs: milliseconds("before each request is handled"),
    listLagMs: milliseconds("that lists are behind"),
    rateLimit: { value: "n", about: "requests a minute; 0 is no limit", initial: 0, read: wholeNumber() },
    inUseStatus: {
      value: "status",
      about: "of a refused DELETE, 400 or 409",
      initial: 400 as const,
      read: inUseStatus,
    },
    documented: flag("refuse the operations that the API documentation does not show"),
    route: {
      value: "edge:route",
      initial: [],
      initially: "none",
      read: addRoute,
      about: "an HTTPS edge route that exists, by the ids of its edge and itself; may be given several times",
    },
  },
});

function inUseStatus(text: string): 400 | 409 {
  if (text === "400" || text === "409") return text === "400" ? 400 : 409;
  throw new UsageError("must be 400 or 409");
}

function addRoute(text: string, before: readonly RouteId[]): readonly RouteId[] {
  const [edgeId, routeId] = text.split(":");
  if (!edgeId || !routeId) throw new UsageError("must be two ids with a colon between them");
  return [...before, { edgeId, routeId }];
}

await runProgram(program, async (values) => {
  const { documented, certificateStartMs, provisionMs, restartMs, updateMs, rateLimit, route, ...others } = values;
  const simulator = await startSimulator({
    ...others,
    certificates: { startMs: certificateStartMs, provisionMs },
    sessions: { restartMs, updateMs },
    rateLimitPerMinute: rateLimit || undefined,
    undocumented: !documented,
    routes: route,
  });
  onInterrupt(() => void simulator.stop().then(() => process.exit(0)));
  console.log(JSON.stringify({ url: simulator.url, apiKey: simulator.apiKey }));
  return 0;
});
