import { Histogram, type Registry } from "prom-client";
import { conditionOf, isDeleting, isPaused, type ManagedObject } from "../../objects/object.ts";
import type { Change } from "../../runtime/cache/store.ts";

export interface SyncMetrics {
  /** Call it with each change of an object, in the process that leads. `now` is monotonic, in milliseconds. */
  onObject: (change: Change<ManagedObject>, now: number) => void;
}

/** Measures how long an edit takes until the service has it: until the object says Synced for its present spec. */
export function createSyncMetrics(registers: Registry[]): SyncMetrics {
  const seconds = new Histogram({
    name: "tunnelgateway_sync_duration_seconds",
    help: "Time from when an edit of an object was seen until the object was synced with the account.",
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800],
    registers,
  });
  /** When the present spec of an object was seen, by its uid, until it is synced. */
  const edits = new Map<string, number>();
  return {
    onObject(change, now) {
      const { object } = change;
      const { uid } = object.metadata;
      const isSettled = isSynced(object);
      const since = edits.get(uid);
      if (isSettled && since !== undefined) seconds.observe((now - since) / 1000);
      // A paused object waits for a person, and a deleted object will never be synced, so neither is measured.
      if (isSettled || change.type === "deleted" || isDeleting(object) || isPaused(object)) edits.delete(uid);
      else if (isEdit(change)) edits.set(uid, now);
    },
  };
}

/** False for an object that is found at the start, since the time of its edit is unknown. */
const isEdit = (change: Change<ManagedObject>): boolean =>
  change.type === "added"
    ? !change.initial
    : change.type === "updated" && change.old.metadata.generation !== change.object.metadata.generation;

function isSynced({ metadata, status }: ManagedObject): boolean {
  const synced = conditionOf(status, "Synced");
  return synced?.status === "True" && synced.observedGeneration === metadata.generation;
}
