import type { Route } from "../../http/route.ts";
import { rowOf } from "../../resource/crud.ts";
import { created } from "../../shape/check.ts";
import { tunnelSessions } from "./tunnel-sessions.ts";

const commands = ["restart", "stop", "update"] as const;

export const sessionCommandRoutes: readonly Route[] = commands.map((command) => ({
  method: "POST",
  path: `/tunnel_sessions/{id}/${command}`,
  takes: "members",
  handle(call) {
    const row = rowOf(tunnelSessions, call);
    created({}, call.body, call.world.store);
    call.world.agents[command](row);
    return { status: 204 };
  },
}));
