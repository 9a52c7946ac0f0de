import * as z from "zod";
import { actions } from "../plan/blocks.ts";
import { fieldStates } from "../plan/comparison.ts";

// The outputs of `-o json` and `-o yaml`, by command. JSON schemas and a page are generated from them.

const text = (meaning: string) => z.string().describe(meaning);
const list = (item: z.ZodType, meaning: string) => z.array(item).describe(meaning);
const count = (meaning: string) => z.number().int().describe(meaning);

const about = {
  kind: text("Kind of the object."),
  namespace: text("Its namespace."),
  name: text("Its name."),
};
const optionalID = text("Id of the remote. Unset: there is none yet.").optional();
const complete = z.boolean().describe("False: not everything could be read, and stderr says what.");
const secret = z.literal(true).optional().describe("The value comes from a Secret, and is not shown.");

const change = z.object({
  action: z.enum(actions).describe("What is done, or why nothing can be done."),
  ...about,
  id: optionalID,
  interrupts: z.literal(true).optional().describe("The remote is deleted before it is created again."),
  fields: list(
    z.object({
      path: text("The member of the request, in the names of the service's API."),
      old: z.unknown().describe("Unset: the remote had no value, or it is secret.").optional(),
      new: z.unknown().describe("Unset: the value is removed, or it is secret.").optional(),
      secret,
    }),
    "What changes.",
  ),
  requests: list(z.string(), "Method and path of each request, in the order in which they would be sent."),
  reason: text("Why the object is not Ready in the end.").optional(),
  message: text("What to do about it.").optional(),
});

const plan = z.object({
  complete,
  sums: z.partialRecord(z.enum(actions), z.number().int()).describe("How many changes of each action there are."),
  changes: list(change, "What changes or cannot go on, by object."),
});

const diff = z.object({
  complete,
  objects: list(
    z.object({
      ...about,
      id: optionalID,
      inAccount: z.boolean().describe("False: the account has no such remote."),
      reason: text("Why there is no remote.").optional(),
      message: text("What to do about it.").optional(),
      fields: list(
        z.object({
          path: text("The member of the remote, in the names of the service's API."),
          state: z
            .enum(fieldStates)
            .describe(
              "differs: the account has another value than the spec. unmanaged: the spec does not say. " +
                "hidden: the value comes from a Secret, and the service does not show it.",
            ),
          spec: z.unknown().describe("Unset: the spec has no value, or it is secret.").optional(),
          account: z.unknown().describe("Unset: the account has no value, or it is secret.").optional(),
          secret,
          immutable: z.literal(true).optional().describe("The service cannot change it in place."),
        }),
        "Fields that differ, that the spec does not say, or that cannot be seen.",
      ),
    }),
    "The objects that were named.",
  ),
});

/** An object, a remote, or an object together with its remote. */
const node = {
  key: text("KIND/NAMESPACE/NAME of an object, KIND/ID of a remote without one."),
  kind: text("Kind, also of a remote without an object."),
  id: optionalID,
  namespace: text("Namespace of the object. Unset: there is none.").optional(),
  name: text("Name of the object. Unset: there is none.").optional(),
  ready: text("Status of the condition Ready.").optional(),
  reason: text("Reason of the condition Ready.").optional(),
  inAccount: z.boolean().describe("Whether the account has the remote."),
  uses: list(z.string(), "Keys of what it has in it."),
  usedBy: list(z.string(), "Keys of what has it in it."),
};

const nodes = z.array(z.object(node));

const tree = z.array(
  z.object({
    ...node,
    kind: text(
      "Kind, also of a remote without an object. Tunnel, TunnelSession and Credential (what sessions use and no list " +
        "shows) are parts of the account that no object here stands for.",
    ),
    modules: list(
      z.object({
        name: text("The field of the spec."),
        isOn: z.boolean().describe("False: the module is switched off."),
        uses: list(z.string(), "Keys of what it uses."),
      }),
      "The modules of an edge or route. Unset: there are none.",
    ).optional(),
  }),
);

const why = z.array(
  z.object({
    ...about,
    ready: text("Status of the condition Ready. Empty: the operator has not looked at the object yet."),
    reason: text("Reason of the condition Ready."),
    message: text("Message of the condition Ready."),
    behind: z
      .object({ reason: text("Its reason."), message: text("Its message.") })
      .optional()
      .describe("What the condition Synced says, if it is False."),
    answer: text("What the service refused it with, in its own words.").optional(),
    createWith: text(
      "Command that creates the Secret or ConfigMap that it waits for. Unset: it waits for none.",
    ).optional(),
    nextLook: text("When the operator looks at it again, in words. Unset: it waits for nothing.").optional(),
    events: z
      .array(
        z.object({
          last: text("When it happened last."),
          count: count("How often."),
          type: text("Normal or Warning."),
          reason: text("Its reason."),
          message: text("Its message."),
        }),
      )
      .optional()
      .describe("The last five events, newest first. Only of the objects that were named."),
    waitsFor: list(z.string(), "Keys of the objects it waits for. They are in this list too."),
    leadsTo: text(
      "Key of the worst object below it that is not Ready, where it is Ready itself. That object is in this list too.",
    ).optional(),
  }),
);

const status = z.object({
  installations: list(
    z.object({
      namespace: text("Namespace of the Lease."),
      leader: text("Identity of the leader; empty: there is none."),
      isLeading: z.boolean().describe("Whether the leader has renewed the Lease in time."),
      renewed: text("When it was renewed."),
    }),
    "Operators that elect a leader.",
  ),
  accounts: list(
    z.object({
      namespace: text("Namespace of the GatewayAccount; empty: the operator's own credentials."),
      name: text("Its name; empty as well."),
      ready: text(
        "Status of its condition Ready. Of the operator's own credentials: True if a list was read with them, False if " +
          "requests are stopped, empty if nothing is known.",
      ),
      reason: text("Reason of its condition Ready, or why requests are stopped."),
      since: text("Since when requests to it fail, as far as objects tell. Unset: they do not fail.").optional(),
      objects: count("How many objects belong to it."),
      requestsInLastMinute: count(
        "Requests that the operator has sent to it within a minute. Unset: it does not say so. It does for the 20 " +
          "busiest accounts, if it elects a leader.",
      ).optional(),
      requestsPerMinute: count("How many the operator may send in a minute. 0: no limit.").optional(),
      pausedUntil: text("When the pause ends that the service has asked for. Unset: it has asked for none.").optional(),
      waiting: count("How many requests wait for their turn. Unset: none.").optional(),
      lastList: text("When the latest complete list of any of its resources began. Unset: there was none.").optional(),
    }),
    "Accounts that objects belong to.",
  ),
  objects: list(
    z.object({
      kind: about.kind,
      all: count("How many there are."),
      ready: count("How many of them are Ready."),
      others: z.record(z.string(), z.number().int()).describe("How many others have which reason."),
    }),
    "Objects by kind.",
  ),
  certificates: list(
    z.object({ ...about, until: text("When it ends.") }),
    "Certificates, by their end. The screen has those that end within 30 days.",
  ),
  drifted: list(z.object({ ...about, message: text("What differs.") }), "Objects with drift that is not corrected."),
  waiting: list(
    z.object({
      ...about,
      since: text("Since when it has waited."),
      reason: text("Reason of the condition Ready."),
      message: text("What it waits for."),
    }),
    "Objects that are neither Ready nor wait for a person, oldest first.",
  ),
  unsynced: list(
    z.object({
      ...about,
      since: text("Since when."),
      reason: text("Reason of the condition Synced."),
      message: text("What has failed."),
    }),
    "Objects that are Ready, and of which the last call or list has failed, oldest first.",
  ),
  paused: list(
    z.object({ ...about, since: text("Since when."), reason: text("Paused, or Released to another object.") }),
    "Objects for which the operator writes nothing, oldest first.",
  ),
  attention: list(
    z.object({
      ...about,
      since: text("When it was noticed."),
      reason: text("Reason of the condition Stalled."),
      message: text("What to do."),
    }),
    "Objects that wait for a person, oldest first.",
  ),
});

const doctor = z.object({
  checks: list(
    z.object({
      name: text("What was checked."),
      ok: z.boolean().describe("Whether it is as it should be."),
      message: text("What was found, or what to do."),
    }),
    "In the order in which they were made.",
  ),
});

const version = z.object({
  version: text("Version of the program."),
  commit: text("Commit of its sources. Unset: it is not known.").optional(),
  operators: list(
    z.object({
      namespace: text("Namespace of its Lease."),
      leader: text("Identity of the leader."),
      version: text("Its version. Unset: it does not say so.").optional(),
    }),
    "Operators that lead in the cluster. Unset: the cluster could not be read.",
  ).optional(),
});

/** By command. */
export const outputs = {
  plan,
  diff,
  tree,
  why,
  users: nodes,
  orphans: z.array(z.object({ ...node, why: text("Why it is an orphan.") })),
  status,
  doctor,
  version,
} satisfies Record<string, z.ZodType>;
