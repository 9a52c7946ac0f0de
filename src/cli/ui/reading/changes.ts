import { conditionOf, type ManagedObject } from "../../../objects/object.ts";
import type { Change as StoreChange } from "../../../runtime/cache/store.ts";

/** Something that happened to an object. */
export interface Change {
  at: string;
  kind: string;
  namespace: string;
  name: string;
  what: string;
  /** From the condition Ready if that has changed, or from an event. */
  message: string;
}

/** What this server has seen change. Undefined: nothing that a person would look for. */
export function changeOf(change: StoreChange, now: Date): Change | undefined {
  if (change.type === "added" && change.initial) return undefined;
  const object = change.object as ManagedObject;
  const what = whatOf(change, object);
  if (what === undefined) return undefined;
  const { kind, metadata } = object;
  const { reason, message: said = "" } = conditionOf(object.status, "Ready") ?? {};
  const message = what === reason ? said : "";
  return { at: now.toISOString(), kind, namespace: metadata.namespace, name: metadata.name, what, message };
}

function whatOf(change: StoreChange, object: ManagedObject): string | undefined {
  if (change.type === "added") return "created";
  if (change.type === "deleted") return "gone";
  const old = change.old as ManagedObject;
  if (object.metadata.deletionTimestamp && !old.metadata.deletionTimestamp) return "is being deleted";
  if (object.metadata.generation !== old.metadata.generation) return "its spec was changed";
  const [before, after] = [old, object].map(({ status }) => conditionOf(status, "Ready"));
  return before?.reason === after?.reason && before?.status === after?.status ? undefined : after?.reason;
}
