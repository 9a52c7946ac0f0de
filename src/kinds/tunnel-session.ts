import * as z from "zod";
import { GROUP } from "../schema/contract.ts";
import { defineCustomResource } from "../schema/define.ts";
import { immutable } from "../schema/fields.ts";
import { remoteRef, text } from "../schema/status.ts";

/** Labels of the objects that the operator creates. It recognises its objects by the first two. */
export const sessionLabels = {
  mirror: `${GROUP}/mirror`,
  /** The GatewayAccount whose session it is. Not set: a session of the operator's own account. */
  account: `${GROUP}/account`,
  region: `${GROUP}/region`,
  os: `${GROUP}/os`,
  transport: `${GROUP}/transport`,
  agentVersion: `${GROUP}/agent-version`,
} as const;

/** The members of a session that the status keeps. */
export const sessionStatus = z.object({
  id: text("Remote id of the session, as in the spec."),
  uri: text("Address of the session at the service."),
  agentVersion: text("Version of the agent that started the session."),
  credential: remoteRef.optional().describe("The tunnel credential or SSH credential that the agent used."),
  ip: text("Source IP address of the session."),
  metadata: text("Text of the user's, from the configuration of the agent."),
  os: text("Operating system of the agent's host."),
  region: text("Region where the session started."),
  startedAt: text("When the session first connected, in RFC 3339."),
  transport: text("Protocol of the session: `ssh`, or the service's own with its version."),
});

export const TunnelSession = defineCustomResource({
  kind: "TunnelSession",
  shortNames: ["gwts"],
  summary:
    "A tunnel session that is online in the account. The operator makes, updates and removes these objects as " +
    "sessions come and go; whatever is written to them by others does not reach the account.",
  spec: z
    .object({
      id: immutable(z.string().min(1).max(256)).describe("Remote id of the session."),
    })
    .describe("Which session it is."),
  status: sessionStatus.describe("The session as the account listed it last."),
  columns: [
    { name: "Region", jsonPath: ".status.region" },
    { name: "OS", jsonPath: ".status.os" },
    { name: "Transport", jsonPath: ".status.transport" },
    { name: "Agent", jsonPath: ".status.agentVersion", description: "Version of the agent" },
    { name: "IP", jsonPath: ".status.ip", width: 39 },
    { name: "ID", jsonPath: ".spec.id", width: 30, wide: true, description: "Remote id" },
    { name: "Since", jsonPath: ".status.startedAt", type: "date", width: 5, description: "When the session connected" },
    { name: "Credential", jsonPath: ".status.credential.id", width: 30, wide: true },
  ],
  selectableFields: [".spec.id"],
  access: ["list", "watch", "create", "patch", "delete"],
  namespaces: "watched and own",
});
