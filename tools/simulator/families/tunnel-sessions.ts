import type { Route } from "../http/route.ts";
import type { Collection } from "../resource/collection.ts";
import { rowOf } from "../resource/crud.ts";
import { created } from "../shape/check.ts";

export const tunnelSessions: Collection = {
  name: "tunnel_sessions",
  prefix: "ts",
  listKey: "tunnel_sessions",
  verbs: { get: "documented", list: "documented" },
  undated: true,
  nextPage: "path",
  fields: {},
  show: ({ credential_id: id, ...members }, { origin }) => ({
    ...members,
    credential: id ? { id, uri: `${origin}/${credentialPath(String(id))}/${id}` } : null,
  }),
};

const credentialPath = (id: string): string => (id.startsWith("sshcr_") ? "ssh_credentials" : "credentials");

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
