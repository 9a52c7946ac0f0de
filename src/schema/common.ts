import * as z from "zod";
import { columnsField, message, shownMessage } from "./columns.ts";
import { type Column, type CustomResource, defaultAccess, type Kind } from "./define.ts";
import { matching, objectName, SUBDOMAIN } from "./fields.ts";
import { memoize } from "./memoize.ts";
import { hasBeside, hasOneOf } from "./rules.ts";
import { mark } from "./traits.ts";

/** A field that only the operator reads. */
const notInBody = <S extends z.ZodType>(schema: S): S => mark(schema, { notInBody: true });

const adoptID = ({ title, idPrefix }: Kind["resource"]) =>
  matching(
    z.string().min(1).max(128),
    new RegExp(`^${idPrefix}[A-Za-z0-9_]+$`),
    `must be the id of a resource of this kind (${title}), which begins with ${idPrefix}`,
  )
    .optional()
    .describe("Remote id of the resource to take over.");

const adoptFrom = matching(
  z.string().max(317),
  new RegExp(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?/${SUBDOMAIN}$`),
  "must be the namespace and the name of an object of this kind, such as team-a/web",
)
  .optional()
  .describe(
    "Namespace and name of the object of this kind that has the resource and releases it to this one, by the annotation tunnelgateway.dev/release-to. If that object is gone, this is an adoption like any other.",
  );

const adoptByID = (resource: Kind["resource"]) =>
  mark(z.object({ id: adoptID(resource), from: adoptFrom }), {
    rules: [
      {
        rule: "has(self.id)",
        message: "must give `id`, the remote id of the resource to take over",
        holds: hasOneOf("id"),
      },
    ],
  });

const adoptByKey = (resource: Kind["resource"]) =>
  mark(
    z.object({
      id: adoptID(resource),
      existing: z.literal(true).optional().describe("Takes over the resource that has the same name in the account."),
      from: adoptFrom,
    }),
    {
      rules: [
        {
          rule: "has(self.id) != has(self.existing)",
          message: "must give exactly one of `id` and `existing: true`",
          holds: hasOneOf("id", "existing"),
        },
        {
          rule: "!has(self.from) || has(self.id)",
          message: "must give `id` beside `from`",
          holds: hasBeside("from", "id"),
        },
      ],
    },
  );

/** The spec fields that every managed kind has beside its own. */
const policyFields = {
  accountRef: notInBody(z.object({ name: objectName.describe("Name of the GatewayAccount.") }))
    .optional()
    .describe(
      "The GatewayAccount in this namespace whose account is meant. " +
        "Default: the one named `default`, else the operator's own credentials.",
    ),
  managementPolicy: notInBody(z.enum(["Full", "ObserveOnly"]))
    .default("Full")
    .describe("ObserveOnly: the status is kept fresh and nothing in the account is ever written. Default: Full."),
  deletionPolicy: notInBody(z.enum(["Delete", "Retain"]))
    .optional()
    .describe(
      "What happens to the remote resource when this object is deleted. Default: Delete what the operator created, Retain what it adopted (`status.origin`).",
    ),
  driftPolicy: notInBody(z.enum(["Correct", "Report"]))
    .default("Correct")
    .describe(
      "What to do when somebody else changes the remote resource: put it right, or only say so. Default: Correct.",
    ),
};

const replacement = notInBody(z.enum(["Recreate"]))
  .optional()
  .describe(
    "Recreate: what the service cannot change in place is deleted and created anew, with an interruption. " +
      "Unset: it stays as it is, and the object says ReplacementRequired.",
  );

/**
 * Whether remotes of this kind may be deleted and created again for a change: the service may have no update for the
 * kind, and `CreateFirst` does not replace its remotes.
 */
export const canBeRecreated = ({ resource, replacement: way }: Kind): boolean =>
  way === undefined && (resource.verbs.update !== "documented" || resource.updateUndocumented.length > 0);

/** The whole spec of a managed kind: its own fields and those that all of them have. */
export function specOf(kind: Kind): z.ZodObject {
  const adopt = notInBody((kind.naturalKey ? adoptByKey : adoptByID)(kind.resource))
    .optional()
    .describe("Takes over a resource that exists in the account already. Nothing is taken over without it.");
  return z.object({
    ...kind.spec.shape,
    // entries and modules name their remote in their own spec fields, so they need no `adopt`
    ...(kind.location.type === "collection" && { adopt }),
    ...policyFields,
    ...(canBeRecreated(kind) && { replacement }),
  });
}

const condition = z.object({
  type: z.string().max(316).describe("Type of the condition."),
  status: z.enum(["True", "False", "Unknown"]).describe("Whether the condition holds."),
  reason: z.string().min(1).max(1024).describe("Cause in one CamelCase word, see the troubleshooting page."),
  message: z.string().max(32768).describe("What to do, or the state in words, in one line."),
  lastTransitionTime: z.iso.datetime({ offset: true }).describe("When the status of the condition last changed."),
  observedGeneration: z.int().min(-1).optional().describe("Generation of the object that the condition speaks of."),
});

/** The status fields of every kind that has conditions. */
export const conditionFields = {
  observedGeneration: z.int().min(-1).optional().describe("Generation of the spec that the status speaks of."),
  conditions: z.array(condition).optional().describe("State of the object, one condition of each type."),
};

/** The status field of every kind whose annotation reconcile-requested-at is answered. */
export const lastHandledReconcileAt = z
  .string()
  .optional()
  .describe("The last value of the annotation tunnelgateway.dev/reconcile-requested-at that was acted on.");

const secretVersion = z.object({
  name: z.string().describe("Name of the Secret."),
  resourceVersion: z.string().describe("Its resourceVersion when its values were last sent."),
  keys: z
    .record(z.string(), z.string())
    .describe("The key whose value was sent, by the path of the spec field that names it."),
});

const remoteFields = {
  id: z.string().optional().describe("Remote id of the resource."),
  uri: z.string().optional().describe("Address of the resource at the service."),
  createdAt: z.string().optional().describe("When the resource was created, in RFC 3339."),
};

const ownFields = {
  account: z
    .string()
    .optional()
    .describe("Name of the GatewayAccount that the resource belongs to. Unset: the operator's own credentials."),
  holds: z
    .boolean()
    .optional()
    .describe(
      "false: this object does not hold the resource. It only observes it, or another object has taken it over. Unset: it does.",
    ),
  origin: z
    .enum(["Created", "Adopted"])
    .optional()
    .describe(
      "Whether the operator created the resource, or adopted one that existed. `deletionPolicy` defaults by it.",
    ),
  created: z
    .string()
    .optional()
    .describe(
      "The create that made the resource, as in the annotation `create-intent` and in the owner mark. Unset: it was adopted.",
    ),
  owner: z
    .string()
    .optional()
    .describe(
      "Cluster, namespace and name of the object that this status was written for, where the resource has no owner mark " +
        "that says so. A copy of the status elsewhere has no power.",
    ),
  formerOwner: z
    .string()
    .optional()
    .describe(
      "Owner mark of the object that had the resource before this one, where the service does not let the operator " +
        "replace it. It does not count any more.",
    ),
  refusedMark: z
    .object({
      owner: z.string().describe("The owner mark."),
      retryAt: z.string().describe("When an operator that starts later tries it again."),
    })
    .optional()
    .describe(
      "Owner mark that the service did not let the operator write to the resource. `kubectl tunnelgateway plan` does not " +
        "show it as a change.",
    ),
  refusedRequest: z
    .object({
      digest: z.string().describe("Digest of what the object asked for, without secrets."),
      reason: z.string().describe("Reason of the refusal."),
      message: z.string().describe("What to do about it."),
      retryAt: z.string().describe("When an operator that starts later sends it again."),
    })
    .optional()
    .describe(
      "What the object asks for and the service refuses. An operator that starts does not send it again so soon, and " +
        "`kubectl tunnelgateway plan` shows the object as blocked. An edit makes it another request.",
    ),
  recreating: z
    .string()
    .optional()
    .describe(
      "Remote id of the resource that the operator is deleting, to create it again. Set with `driftPolicy: Report`, so " +
        "that the deletion is not taken for one by somebody else.",
    ),
  retiring: z
    .array(z.string())
    .max(20)
    .optional()
    .describe("Remote ids of resources that were replaced, oldest first. Each is deleted once nothing refers to it."),
  appliedFields: z
    .array(z.string())
    .optional()
    .describe(
      "Spec fields whose values the account has from this object. One that is removed from the spec is cleared. " +
        "`field.member` and `field/entry` stand for parts whose removal the account would not show.",
    ),
  appliedSecrets: z.array(secretVersion).optional().describe("Secrets whose values the account has from this object."),
  appliedDigest: z
    .string()
    .optional()
    .describe(
      "Digest of what the account has from this object, without secrets. When it changes with the spec unchanged, what " +
        "the spec refers to has changed.",
    ),
  drift: z
    .array(z.string())
    .optional()
    .describe("Spec fields that differ in the account, when they are not put right."),
  lastHandledReconcileAt,
  ...conditionFields,
};

const moduleOrigins = z
  .record(z.string(), z.enum(["Created", "Adopted"]))
  .optional()
  .describe(
    "For each module of the spec: whether the operator has set it first, or it was there. With the default of " +
      "`deletionPolicy`, what was there stays when this object is deleted.",
  );

const leftOn = z
  .array(z.string())
  .optional()
  .describe(
    "Ids of remotes that no list and no object stands for any more, and whose modules may refer to this resource. It is " +
      "deleted only when none of them does.",
  );

const outputSecret = z.string().optional().describe("Name of the Secret that the operator has written.");

const tokenDigests = z
  .record(z.string(), z.string())
  .optional()
  .describe(
    "For each key that this object has made: a digest of its token, made with a secret of the operator, so that the " +
      "operator never deletes the key with which it sends. Empty: nobody was given the token.",
  );

/** The status fields that every managed kind has beside its own. */
export const commonStatus = z.object({ ...remoteFields, ...ownFields });

/** The whole status of a managed kind. */
export const statusOf = (kind: Kind): z.ZodObject =>
  z.object({
    ...remoteFields,
    ...kind.status.shape,
    ...(kind.location.type === "modules" && { moduleOrigins }),
    ...(kind.isUsedUnlisted && { leftOn }),
    ...(kind.output && { outputSecret }),
    ...(kind.output?.shownOnce && { tokenDigests }),
    ...ownFields,
    columns: columnsField(kind.columns),
  });

/** The members of an answer that are kept in the status. */
export const answerFieldsOf: (kind: Kind) => z.ZodObject = memoize((kind) =>
  z.object({ ...remoteFields, ...kind.status.shape }),
);

/** The status until the operator has looked at the object. Without it, tools would show the object as healthy. */
export const initialStatus = (columns: readonly Column[]) => ({
  observedGeneration: -1,
  conditions: [{ ...pending, type: "Ready", status: "Unknown", lastTransitionTime: "1970-01-01T00:00:00Z" }],
  columns: { ...pending, message: shownMessage(columns, pending.message) },
});

const pending = { reason: "Pending", message: "Waiting for the operator to see it" };

/** Columns that all kinds with conditions have. */
export const ready: Column = { name: "Ready", jsonPath: '.status.conditions[?(@.type=="Ready")].status' };
export const reason: Column = {
  name: "Reason",
  jsonPath: ".status.columns.reason",
  width: "CertificateDNSError".length,
  description: "Why the object is not Ready, or what failed behind an object that is Ready",
};
export const age: Column = { name: "Age", jsonPath: ".metadata.creationTimestamp", type: "date", width: 5 };

/** Characters of an id after its prefix. */
export const ID = 27;

/** All columns of a managed kind. */
export const columnsOf: (kind: Kind) => readonly Column[] = memoize((kind) => {
  const { idPrefix } = kind.resource;
  const id: Column = {
    name: "ID",
    jsonPath: ".status.id",
    width: idPrefix.length + ID,
    wide: true,
    description: "Remote id",
  };
  // the ids of entries and modules are made of what the spec says
  return [...kind.columns, ready, reason, age, ...(kind.location.type === "collection" ? [id] : []), message];
});

/** A managed kind with the fields, columns and conditions that all managed kinds have. */
export function customResourceOf(kind: Kind): CustomResource {
  const { plural, shortNames, categories, summary, rules, privilege } = kind;
  const columns = columnsOf(kind);
  return {
    kind: kind.kind,
    plural,
    shortNames,
    categories,
    summary,
    rules,
    privilege,
    initialStatus: initialStatus(columns),
    spec: specOf(kind),
    status: statusOf(kind),
    columns,
    selectableFields: [".status.id"],
    conditions: [
      "Ready",
      "Synced",
      "Reconciling",
      "Stalled",
      ...kind.ownConditions,
      "Drifted",
      "Paused",
      "AnnotationsValid",
    ],
    access: defaultAccess,
    secretAccess: kind.output ? ["create", "patch"] : [],
    namespaces: "watched",
  };
}
