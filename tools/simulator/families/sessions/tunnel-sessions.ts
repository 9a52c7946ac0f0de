import { defineCollection } from "../../resource/collection.ts";

export const tunnelSessions = defineCollection({
  name: "tunnel_sessions",
  prefix: "ts",
  verbs: { get: "documented", list: "documented" },
  undated: true,
  nextPage: "path",
  fields: {},
  show: ({ credential_id: id, ...members }, { origin }) => ({
    ...members,
    credential: id ? { id, uri: `${origin}/${credentialPath(String(id))}/${id}` } : null,
  }),
});

const credentialPath = (id: string): string => (id.startsWith("sshcr_") ? "ssh_credentials" : "credentials");
