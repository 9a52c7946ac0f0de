import * as z from "zod";
import { columnsField, message } from "../schema/columns.ts";
import { age, conditionFields, initialStatus, ready, reason } from "../schema/common.ts";
import { type Column, defineCustomResource } from "../schema/define.ts";
import { idWith, labels, objectName } from "../schema/fields.ts";
import { hasOneOf, isNotEmpty } from "../schema/rules.ts";
import { mark } from "../schema/traits.ts";

export const commands = ["Restart", "Stop", "Update", "UpdateAndRestart"] as const;
export type CommandName = (typeof commands)[number];

/** The state of a command for one session. The last four are final. */
export const phases = [
  "Pending",
  "Sending",
  "Updated",
  "Returning",
  "Succeeded",
  "Skipped",
  "Failed",
  "Unknown",
] as const;
export type Phase = (typeof phases)[number];

/** Why a session has the result it has, in one word. */
export const resultReasons = [
  "NoUpdateAvailable",
  "UpdateChecksDisabled",
  "Updating",
  "AwaitingRestart",
  "RestartUnsupported",
  "SessionOffline",
  "NotReconnected",
  "NotSent",
  "Refused",
  "AnswerLost",
] as const;
export type ResultReason = (typeof resultReasons)[number];

/** The API server refuses a larger value: the results for all sessions have to fit into one object. */
export const MAX_SESSIONS = 500;

const sessionRef = mark(
  z.object({
    name: objectName.optional().describe("Name of a TunnelSession in this namespace."),
    id: idWith(["ts_"]).optional().describe("Remote id of a session."),
  }),
  {
    rules: [
      {
        rule: "has(self.name) != has(self.id)",
        message: "must give exactly one of `name` (a TunnelSession in this namespace) and `id` (a remote id)",
        holds: hasOneOf("name", "id"),
      },
    ],
  },
);

// an empty selector would choose every agent of the account by accident
const matchLabels = mark(labels(16), {
  rules: [{ rule: "size(self) > 0", message: "must name at least one label", holds: isNotEmpty }],
});

const accountRef = z.object({ name: objectName.describe("Name of the GatewayAccount.") });

const spec = z.object({
  command: z
    .enum(commands)
    .describe(
      "What the agents are to do. Update: to the latest version of the same major version, which runs after a restart.",
    ),
  accountRef: accountRef
    .optional()
    .describe(
      "The GatewayAccount in this namespace whose sessions are meant; it must have `tunnelSessions: Mirror`. Default: " +
        "the one named `default`, but in the operator's own namespace the operator's own account.",
    ),
  sessionRef: sessionRef.optional().describe("The session whose agent is commanded."),
  selector: z
    .object({ matchLabels: matchLabels.describe("Labels that a TunnelSession must have, all of them.") })
    .optional()
    .describe("Chooses sessions by the labels of their TunnelSession objects, once, when the command starts."),
  maxConcurrent: z
    .int()
    .min(1)
    .max(100)
    .default(1)
    .describe(
      "How many agents are worked on at the same time; one that restarts counts until it is back. " +
        "Default: 1, so that the others carry the traffic.",
    ),
  ttlSecondsAfterFinished: z
    .int()
    .min(0)
    .max(31_536_000)
    .optional()
    .describe("When the object is deleted after the command has finished, in seconds. Default: never."),
});

const time = (what: string) => z.iso.datetime({ offset: true }).optional().describe(what);
/** The API server refuses a longer text, and with it the whole status. */
export const MAX_TEXT = 256;

const short = (what: string) => z.string().max(MAX_TEXT).optional().describe(what);

const newSession = z.object({
  id: z.string().describe("Remote id of the session."),
  name: z.string().describe("Name of its TunnelSession."),
});

export const sessionResult = z.object({
  id: z.string().describe("Remote id of the session."),
  name: z.string().describe("Name of its TunnelSession."),
  phase: z
    .enum(phases)
    .describe(
      "How far the command has come: Pending, Sending (a request is recorded, then sent), Updated (waits for the " +
        "restart), Returning (waits for the agent to reconnect); or the result: Succeeded, Skipped, Failed, Unknown.",
    ),
  reason: z.enum(resultReasons).optional().describe("Cause of the result, in one word."),
  message: short("The result in words, with those of the service."),
  newSession: newSession.optional().describe("The session of the same agent after its restart."),
  agent: short("Tells the agent from others: a digest of credential, IP address, operating system and metadata."),
  sending: z.enum(["restart", "stop", "update"]).optional().describe("The request that was recorded to be sent."),
  attempts: z.int().optional().describe("How often the update was requested."),
  sentAt: time("When the latest request was recorded, just before it was sent."),
  restartAfter: time("When the restart may be requested at the earliest."),
  startedSince: time("Sessions that started before this time existed before the restart."),
  notThese: z
    .array(z.string())
    .max(64)
    .optional()
    .describe("Ids of sessions that started at that time and existed before the restart."),
});

const count = (what: string) => z.int().min(0).optional().describe(what);

const columns: readonly Column[] = [
  { name: "Command", jsonPath: ".spec.command", width: 7 },
  { name: "Completions", jsonPath: ".status.completions" },
  ready,
  reason,
  age,
  { name: "Failed", jsonPath: ".status.failed", type: "integer", wide: true },
  { name: "Unknown", jsonPath: ".status.unknown", type: "integer", wide: true },
  message,
];

export const AgentCommand = defineCustomResource({
  kind: "AgentCommand",
  shortNames: ["gwcmd"],
  privilege: "A command to every agent of the account.",
  summary:
    "Commands the agents of chosen tunnel sessions, once, as a Job runs once. It must be in the namespace of their " +
    "TunnelSession objects. Deleting it ends it: requests that were not sent yet are not sent.",
  spec: spec.describe("What to do with which agents."),
  status: z
    .object({
      startedAt: time("When the sessions were chosen."),
      completedAt: time("When the command was finished, whatever the results."),
      completions: short("Sessions whose result is Succeeded or Skipped, of all."),
      total: count("Sessions that were chosen."),
      active: count("Agents that are being worked on."),
      succeeded: count("Results Succeeded."),
      skipped: count("Results Skipped: there was nothing to do, or it was not sent because of a failure elsewhere."),
      failed: count("Results Failed."),
      unknown: count("Results Unknown: an answer was lost, and the request is not sent again."),
      sessions: z.array(sessionResult).max(MAX_SESSIONS).optional().describe("Each session, and its result."),
      ...conditionFields,
      columns: columnsField(columns),
    })
    .describe("How far the command has come."),
  rules: [
    {
      rule: "has(self.sessionRef) != has(self.selector)",
      message: "must give exactly one of `sessionRef` and `selector`",
      holds: hasOneOf("sessionRef", "selector"),
    },
    {
      rule: "self == oldSelf",
      message: "is immutable: a command runs once. Create a new AgentCommand instead",
      holds: () => true,
      reason: "FieldValueForbidden",
    },
  ],
  columns,
  initialStatus: initialStatus(columns),
  access: ["list", "watch", "delete"],
  namespaces: "watched and own",
  conditions: ["Ready", "Complete", "Failed", "Reconciling", "Stalled", "Paused", "AnnotationsValid"],
});
