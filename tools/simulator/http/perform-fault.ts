import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { FaultAction } from "../control/faults.ts";
import { send, sendHalf, sendText } from "./exchange.ts";
import type { Answer } from "./route.ts";

export interface Exchange {
  readonly response: ServerResponse;
  /** Lets the service handle the request. */
  readonly handle: () => Answer;
  /** Logs an answer that the service did not make. */
  readonly instead: (answer: Answer) => Answer;
}

const page = "<!doctype html><html><body><h1>Something went wrong</h1></body></html>";

export async function performFault(action: FaultAction, { response, handle, instead }: Exchange): Promise<void> {
  if ("status" in action) return answerInstead(action, { response, handle, instead });
  if ("rateLimit" in action) return send(response, instead(limited(action.rateLimit.retryAfterSeconds)));
  if ("delayMs" in action) {
    await sleep(action.delayMs);
    return send(response, handle());
  }
  if ("cut" in action) {
    if (action.cut === "after") handle();
    response.destroy();
    return;
  }
  if ("truncate" in action) return sendHalf(response, handle());
  if ("garbage" in action) return sendText(response, garbled(handle()), page, { "content-type": "text/html" });
  if (action.hang === "after") handle();
}

// an answer with status 204 cannot have a body
const garbled = ({ status }: Answer): number => (status === 204 ? 200 : status);

function answerInstead(
  { handledAfterMs: later, ...answer }: Extract<FaultAction, { status: number }>,
  { response, handle, instead }: Exchange,
): void {
  const handleUnseen = () => {
    handle();
    return instead(answer);
  };
  if (later) setTimeout(handleUnseen, later).unref();
  sendGiven(response, later === 0 ? handleUnseen() : instead(answer));
}

function sendGiven(response: ServerResponse, answer: Answer): void {
  const { status, body, headers } = answer;
  typeof body === "string" ? sendText(response, status, body, { ...headers }) : send(response, answer);
}

const limited = (seconds: number): Answer => ({
  status: 429,
  headers: { "retry-after": String(seconds) },
  body: { error_code: "ERR_GATEWAY_226", status_code: 429, msg: "Your account has exceeded its rate limit" },
});
