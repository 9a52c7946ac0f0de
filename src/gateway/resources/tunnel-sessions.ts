import { defineResource } from "../resource.ts";
import { answer, identity, optionalRef, text } from "../wire.ts";

/** Read-only. Only sessions that are online are listed. After a restart an agent has a new session with a new id. */
export const tunnelSessions = defineResource({
  name: "tunnel_sessions",
  title: "tunnel session",
  idPrefix: "ts_",
  wire: answer({
    ...identity,
    agent_version: text,
    credential: optionalRef,
    ip: text,
    metadata: text,
    os: text,
    region: text,
    started_at: text,
    transport: text,
  }),
  create: [],
  update: [],
  verbs: { create: "none", update: "none", delete: "none" },
});

/** Commands to the agent of a session: POST of an empty object, answered with 204. */
export const sessionCommands = {
  restart: "/tunnel_sessions/{id}/restart",
  stop: "/tunnel_sessions/{id}/stop",
  update: "/tunnel_sessions/{id}/update",
} as const;

export type SessionCommand = keyof typeof sessionCommands;
