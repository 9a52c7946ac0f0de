import type { IncomingHttpHeaders } from "node:http";
import { viewOf } from "../resource/view.ts";
import { isMembers, type Members } from "../shape/members.ts";
import type { World } from "../world.ts";
import type { RateLimit } from "./rate-limit.ts";
import { badRequest, Refusal, unauthorized, unsupported } from "./refusal.ts";
import type { Answer, Route } from "./route.ts";
import type { Router } from "./router.ts";

export interface Request {
  readonly method: string;
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Service {
  readonly world: World;
  readonly router: Router;
  readonly rateLimit: RateLimit;
}

/** Handles a request. Turns a Refusal into an answer. */
export function answer(request: Request, service: Service): Answer {
  const { world } = service;
  try {
    world.agenda.advance(world.clock());
    return perform(request, service);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return refused(error, world);
  }
}

export const refused = ({ status, code, message, headers }: Refusal, { random }: World): Answer => ({
  status,
  headers,
  body: { error_code: code, status_code: status, msg: message, details: { operation_id: `op_${random.text(27)}` } },
});

function perform(request: Request, { world, router, rateLimit }: Service): Answer {
  const { method, path, query, headers } = request;
  authenticate(headers, world);
  rateLimit.admit(world.clock());
  if (headers["svc-version"] !== "2") throw badRequest("The header Svc-Version must be 2");
  const { route, params } = router(method, path);
  if (route.undocumented && !world.settings.undocumented) throw unsupported(`${method} is not supported for ${path}`);
  if (query !== "" && !route.paged) throw badRequest(`unknown query parameters: ${query}`);
  const body = bodyOf(request, route);
  const view = viewOf(world.store, `http://${headers.host}`, world.settings);
  return route.handle({ params, query, body, world, view });
}

function authenticate({ authorization = "" }: IncomingHttpHeaders, { keyring }: World): void {
  const [, token = ""] = /^Bearer (\S+)$/.exec(authorization) ?? [];
  if (token === "") throw unauthorized(keyring.refusal, "The request carries no API key");
  if (!keyring.has(token)) throw unauthorized(keyring.refusal, "The API key is not valid");
}

function bodyOf({ body: text, headers }: Request, { takes }: Route): Members {
  if (takes === "nothing") {
    if (text !== "") throw badRequest("This operation takes no body");
    return {};
  }
  if (!/^application\/json\s*(;|$)/i.test(headers["content-type"] ?? "")) {
    throw badRequest("The Content-Type must be application/json");
  }
  const body = parse(text);
  if (!isMembers(body)) throw badRequest("The body must be a JSON object");
  if (takes === "changes" && Object.keys(body).length === 0) throw badRequest("The body names nothing to change");
  return body;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw badRequest("The body is not valid JSON");
  }
}
