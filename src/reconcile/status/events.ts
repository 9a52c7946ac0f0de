import { conditionOf, isDeleting, isObserveOnly, type ManagedObject, type Status } from "../../objects/object.ts";
import type { EventDraft } from "../cluster.ts";
import type { Findings } from "../context.ts";

/**
 * What is worth an event: a transition that somebody may want to know of later. Creating an object that is ready at
 * once is none, since its status says all there is to say, and an event is one more write for each object.
 */
export function eventsOf(object: ManagedObject, after: Status, findings: Findings): EventDraft[] {
  const done = isObserveOnly(object) ? [] : corrections(findings);
  return [...done, ...transitions(object, after)];
}

function corrections(findings: Findings): EventDraft[] {
  const { corrected, adopted, gone, remote, created, retiring, deleted, doubles } = findings;
  const told: EventDraft[] = [];
  if (created && retiring && remote) {
    const note = `Created ${remote.id} in place of ${retiring}, which is deleted once nothing refers to it`;
    told.push({ type: "Normal", reason: "Updating", action: "Create", note });
  }
  if (created && deleted && !retiring && remote) {
    const note = `Created ${remote.id} in place of ${deleted}, which was deleted`;
    told.push({ type: "Normal", reason: "Updating", action: "Create", note });
  }
  if (corrected) {
    const fields = corrected.map((field) => `spec.${field}`).join(", ");
    const note = `Put ${fields} right: somebody else had changed it in the account`;
    told.push({ type: "Normal", reason: "RemoteDiffers", action: "Update", note });
  }
  if (gone && remote) {
    const note = `Created ${remote.id}: somebody else had deleted the remote in the account`;
    told.push({ type: "Warning", reason: "RemoteMissing", action: "Create", note });
  }
  if (adopted && remote) {
    told.push({ type: "Normal", reason: "Available", action: "Observe", note: `Took over ${remote.id}` });
  }
  if (doubles && remote) {
    const note = `Delete ${doubles.join(", ")} in the account, unless another object has it or something uses it: it passes for this object's as well, which keeps ${remote.id}`;
    told.push({ type: "Warning", reason: "OwnershipConflict", action: "Observe", note });
  }
  return told;
}

function transitions(object: ManagedObject, after: Status): EventDraft[] {
  const told = ["Ready", "Synced", "Drifted", "Paused"].flatMap((type): EventDraft[] => {
    const [was, is] = [conditionOf(object.status, type), conditionOf(after, type)];
    if (!is || (was?.status === is.status && was.reason === is.reason)) return [];
    if (is.status === "True" && (!was || was.reason === "Pending"))
      return type === "Drifted" ? [notice(object, is)] : [];
    return [notice(object, is)];
  });
  // Ready and Synced mostly change together, for the same reason
  return told.filter((one, index) => told.findIndex(({ reason }) => reason === one.reason) === index);
}

const expected = new Set([
  "ReferenceNotReady",
  "Pending",
  "Creating",
  "Updating",
  "Deleting",
  "CertificateProvisioning",
  "Paused",
]);

function notice(
  object: ManagedObject,
  { status, type, reason, message }: { status: string; type: string; reason: string; message: string },
): EventDraft {
  const fine = (status === "True" && type !== "Drifted") || expected.has(reason);
  return {
    type: fine ? "Normal" : "Warning",
    reason,
    action: isDeleting(object) ? "Delete" : "Reconcile",
    note: message,
  };
}
