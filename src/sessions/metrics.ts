import { Counter, Gauge, type Registry } from "prom-client";
import type { SessionCommand } from "../gateway/resources/index.ts";
import type { Answer } from "./answer.ts";

export interface SessionMetrics {
  /**
   * Call it when the objects show a list of this many sessions. `account`: `namespace/name` of the GatewayAccount, or
   * "".
   */
  synced(account: string, online: number): void;
  /** Call it when the sessions of this account are no longer shown. */
  ended(account: string): void;
  /** Call it when the sessions could not be listed. */
  failed(): void;
  sent(request: SessionCommand, answer: Answer["outcome"]): void;
}

export function createSessionMetrics(registry: Registry): SessionMetrics {
  const registers = [registry];
  const online = new Gauge({
    name: "tunnelgateway_tunnel_sessions",
    help: "Tunnel sessions that the latest list of an account had.",
    labelNames: ["account"],
    registers,
  });
  const syncs = new Counter({
    name: "tunnelgateway_session_syncs_total",
    help: "Lists of tunnel sessions to be mirrored, by result.",
    labelNames: ["result"],
    registers,
  });
  const requests = new Counter({
    name: "tunnelgateway_agent_requests_total",
    help: "Requests to agents by what they ask for and what is known of the answer.",
    labelNames: ["request", "answer"],
    registers,
  });
  for (const result of ["success", "error"]) syncs.inc({ result }, 0);
  return {
    synced(account, count) {
      online.set({ account }, count);
      syncs.inc({ result: "success" });
    },
    ended: (account) => online.remove({ account }),
    failed: () => syncs.inc({ result: "error" }),
    sent: (request, answer) => requests.inc({ request, answer }),
  };
}
