import type { Remote } from "../../gateway/resource.ts";
import { ANNOTATIONS_VALID } from "../../objects/conditions.ts";
import {
  type Condition,
  conditionOf,
  isDeleting,
  isObserveOnly,
  type ManagedObject,
  type Status,
} from "../../objects/object.ts";
import { isRetainedByPolicy } from "../../objects/origin.ts";
import type { EventDraft } from "../cluster.ts";
import type { Change, ReconcileContext } from "../context.ts";
import { specFields } from "../desired/plan.ts";

/**
 * The events of a reconcile: changes that somebody may want to know of later. A create whose remote is ready at once
 * makes no event: the status says it all, and each event costs the API server a write.
 */
export const eventsOf = (
  object: ManagedObject,
  after: Status,
  done: Pick<ReconcileContext, "changes" | "state">,
): EventDraft[] => [...changeEvents(object, done), ...transitionEvents(object, after)];

/** The events of what a reconcile did or found so far. */
export function changeEvents(
  object: ManagedObject,
  { changes, state: { remote } }: Pick<ReconcileContext, "changes" | "state">,
): EventDraft[] {
  // Without a remote, the reconcile has failed halfway, and the status says why.
  if (isObserveOnly(object) || !remote) return [];
  return changes.flatMap((_, index) => eventOf(object, changes, index, remote) ?? []);
}

function eventOf(
  object: ManagedObject,
  changes: readonly Change[],
  index: number,
  remote: Remote,
): EventDraft | undefined {
  const change = changes[index];
  switch (change?.type) {
    case "Created":
      return replacementEvent(object, change, changes.slice(0, index));
    case "Updated": {
      if (!change.drifted) return undefined;
      const note = `Corrected ${specFields(change.fields)} in the account: somebody else had changed it`;
      return { type: "Normal", reason: "RemoteDiffers", action: "Update", note };
    }
    case "Missing": {
      if (!changes.some(({ type }) => type === "Created")) return undefined;
      const note = `Created ${remote.id}: somebody else had deleted the remote in the account`;
      return { type: "Warning", reason: "RemoteMissing", action: "Create", note };
    }
    case "Adopted":
      return { type: "Normal", reason: "Available", action: "Observe", note: `Took over ${change.id}` };
    case "Duplicates": {
      const note = `Look at ${change.ids.join(", ")} in the account: this object could have made each, and has ${remote.id}. Delete what no other object has and nothing uses`;
      return { type: "Warning", reason: "OwnershipConflict", action: "Observe", note };
    }
    default:
      return undefined;
  }
}

/** Undefined for the first remote of an object, because the status shows that it was created. */
function replacementEvent(
  object: ManagedObject,
  { id, replaces }: Extract<Change, { type: "Created" }>,
  before: readonly Change[],
): EventDraft | undefined {
  const deleted = before.findLast((change) => change.type === "Deleted");
  const what = replaces
    ? `${replaces}, ${isRetainedByPolicy(object) ? "which stays in the account (deletionPolicy: Retain)" : "which is deleted once nothing refers to it"}`
    : deleted && `${deleted.id}, which was deleted`;
  if (!what) return undefined;
  return { type: "Normal", reason: "Updating", action: "Create", note: `Created ${id} in place of ${what}` };
}

/** An object that nobody has looked at has no status, or the one of its schema. */
const isSameTransition = (was: Condition | undefined, is: Condition): boolean =>
  was ? was.status === is.status && was.reason === is.reason : is.reason === "Pending";

function transitionEvents(object: ManagedObject, after: Status): EventDraft[] {
  const drafts = ["Ready", "Synced", "Drifted", "Paused", ANNOTATIONS_VALID].flatMap((type): EventDraft[] => {
    const [was, is] = [conditionOf(object.status, type), conditionOf(after, type)];
    if (!is || isSameTransition(was, is)) return [];
    if (is.status === "True" && (!was || was.reason === "Pending"))
      return type === "Drifted" ? [transitionEvent(object, is)] : [];
    return [transitionEvent(object, is)];
  });
  // Ready and Synced usually change together and for the same reason, so one event is enough.
  return drafts.filter((one, index) => drafts.findIndex(({ reason }) => reason === one.reason) === index);
}

/** Reasons that end by themselves or were asked for. Their events are Normal instead of Warning. */
const expectedReasons = new Set([
  "ReferenceNotReady",
  "Pending",
  "Creating",
  "Updating",
  "Deleting",
  "CertificateProvisioning",
  "DNSRecordRemains",
  "Paused",
]);

function transitionEvent(
  object: ManagedObject,
  { status, type, reason, message }: { status: string; type: string; reason: string; message: string },
): EventDraft {
  const failing = type === "Drifted" || reason === "CertificateRenewalFailing";
  const isNormal = (status === "True" && !failing) || expectedReasons.has(reason);
  return {
    type: isNormal ? "Normal" : "Warning",
    reason,
    action: isDeleting(object) ? "Delete" : "Reconcile",
    note: message,
  };
}
