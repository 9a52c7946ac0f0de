import { type GatewayError, isGatewayError } from "../gateway/errors.ts";
import type { ResultReason } from "../kinds/agent-command.ts";
import { updateRefusal } from "./update-refusal.ts";

/** A request to an agent, by the service's name. */
export type Request = "restart" | "stop" | "update";

/** What is known after a request was to be sent. */
export type Answer =
  | { got: "done" }
  /** Surely not done: it never reached the service, or was turned away before anybody looked at it. */
  | { got: "nothing"; error: unknown }
  /** It may have been done. */
  | { got: "doubt"; message: string }
  | { got: "refusal"; reason: ResultReason; message: string };

/** The one place where a failed request becomes an answer. `error` is whatever sending it threw. */
export function answerOf(request: Request, error: unknown): Answer {
  // what the gateway's client did not throw was thrown before the client was called
  if (!isGatewayError(error)) return { got: "nothing", error };
  const message = error.serviceMessage ?? error.message;
  switch (error.kind) {
    case "unsent":
    case "limited":
      return { got: "nothing", error };
    case "unknown":
    case "failed":
      return { got: "doubt", message };
    case "unreadable":
      return { got: "done" };
    case "redirected":
      return { got: "refusal", reason: "Refused", message };
    case "refused":
      return refused(request, error, message);
  }
}

function refused(request: Request, error: GatewayError, message: string): Answer {
  if (error.status === 401) return { got: "nothing", error };
  if (error.status === 404) return { got: "refusal", reason: "SessionOffline", message };
  const known = request === "update" ? updateRefusal(error.serviceMessage) : undefined;
  return { got: "refusal", reason: known ?? "Refused", message };
}
