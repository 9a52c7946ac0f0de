import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Control } from "../control/control.ts";
import type { Faults } from "../control/faults.ts";
import type { Outage } from "../control/outage.ts";
import type { MutableRequest, RequestLog } from "../control/request-log.ts";
import { serveControl } from "../control/serve.ts";
import { isMembers } from "../shape/members.ts";
import { answer, type Request, type Service } from "./dispatch.ts";
import { readBody, send } from "./exchange.ts";
import { type Exchange, performFault } from "./perform-fault.ts";
import type { Answer } from "./route.ts";

export interface ServerParts {
  readonly service: Service;
  readonly log: RequestLog;
  readonly faults: Faults;
  readonly outage: Outage;
  readonly control: Control;
}

export function createHTTPServer(parts: ServerParts): Server {
  return createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    serve(parts, request, response).catch((error: unknown) => fail(error, response));
  });
}

/** A caller may disconnect at any time. Any other error is a bug of the simulator, so it is printed. */
function fail(error: unknown, response: ServerResponse): void {
  if (response.req.destroyed && !response.req.complete) return;
  console.error("simulator failed", error);
  response.destroy();
}

async function serve(parts: ServerParts, message: IncomingMessage, response: ServerResponse): Promise<void> {
  const [path = "", query = ""] = (message.url ?? "").split(/\?(.*)/s);
  if (path.startsWith("/_control/")) return serveControl(parts.control, path, message, response);

  response.setHeader("date", new Date(parts.service.world.clock()).toUTCString());
  const entry = logged(parts, message, path, query);
  if (parts.outage.kind) return refuse(parts.outage.kind, entry, response);

  const action = parts.faults.hit(entry);
  if (action) entry.fault = JSON.stringify(action);
  const body = await readBody(message);
  entry.body = parsed(body);
  const request = { method: entry.method, path, query, headers: message.headers, body };
  const exchange = exchangeOf(parts, request, entry, response);
  const { latencyMs } = parts.service.world.settings;
  if (latencyMs > 0) await sleep(latencyMs);
  if (action) return performFault(action, exchange);
  send(response, exchange.handle());
}

function logged({ log, service }: ServerParts, message: IncomingMessage, path: string, query: string): MutableRequest {
  const { authorization: _, ...headers } = message.headers;
  return log.add({
    time: service.world.clock(),
    method: message.method ?? "",
    path,
    query: Object.fromEntries(new URLSearchParams(query)),
    headers,
  });
}

function exchangeOf(
  { service }: ServerParts,
  request: Request,
  entry: MutableRequest,
  response: ServerResponse,
): Exchange {
  const { quoteInErrors } = service.world.settings;
  const instead = (given: Answer): Answer => {
    entry.status = given.status;
    return quoteInErrors && given.status >= 400 ? quoting(given, quoteInErrors(request.body)) : given;
  };
  const handle = (): Answer => {
    entry.handled = true;
    const given = instead(answer(request, service));
    service.world.settings.onHandled({ ...entry });
    return given;
  };
  return { response, handle, instead };
}

/** The answer with more words in its message. */
function quoting(answer: Answer, words: string): Answer {
  const body = isMembers(answer.body) ? answer.body : { error_code: "ERR_GATEWAY_202", status_code: answer.status };
  return { ...answer, body: { ...body, msg: `${body.msg ?? "This cannot be taken"}: ${words}` } };
}

function refuse(kind: "destroy" | "unavailable", entry: MutableRequest, response: ServerResponse): void {
  entry.fault = "outage";
  if (kind === "destroy") {
    response.destroy();
    return;
  }
  entry.status = 503;
  send(response, {
    status: 503,
    body: { error_code: "ERR_GATEWAY_503", status_code: 503, msg: "Down for maintenance" },
  });
}

function parsed(body: string): unknown {
  if (body === "") return undefined;
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
