import { type GatewayError, isGatewayError, mayArriveLate } from "../gateway/errors.ts";
import type { SessionCommand } from "../gateway/resources/index.ts";
import type { ResultReason } from "../kinds/agent-command.ts";
import { updateRefusal } from "./update-refusal.ts";

/** What is known about a request after trying to send it. */
export type Answer =
  | { outcome: "done" }
  /** The request was not carried out: it did not reach the service, or was rejected before it was processed. */
  | { outcome: "nothing"; error: unknown }
  /** The answer was lost, so the request may have been carried out. */
  | { outcome: "doubt"; message: string }
  | { outcome: "refusal"; reason: ResultReason; message: string };

/** The one place where a failed request becomes an answer. `error`: what sending it threw. */
export function answerOf(request: SessionCommand, error: unknown): Answer {
  // Any other error was thrown before the gateway's client was called.
  if (!isGatewayError(error)) return { outcome: "nothing", error };
  const message = error.serviceMessage ?? error.message;
  switch (error.kind) {
    case "unsent":
    case "limited":
      return { outcome: "nothing", error };
    case "unknown":
    case "failed":
      return { outcome: "doubt", message };
    case "unreadable":
      return { outcome: "done" };
    case "redirected":
    case "refused":
      return mayArriveLate(error) ? { outcome: "doubt", message } : refused(request, error, message);
  }
}

function refused(request: SessionCommand, error: GatewayError, message: string): Answer {
  if (error.status === 401) return { outcome: "nothing", error };
  if (error.status === 404) return { outcome: "refusal", reason: "SessionOffline", message };
  const known = request === "update" ? updateRefusal(error.serviceMessage) : undefined;
  return { outcome: "refusal", reason: known ?? "Refused", message };
}
