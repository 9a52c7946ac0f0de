import type { Change, ReconcileContext } from "../reconcile/context.ts";
import type { Logger } from "../runtime/log.ts";

const messages = { Adopted: "Adopted", Created: "Created", Updated: "Updated", Deleted: "Deleted" } as const;

/** Logs one line for each change that a reconcile made in the account. */
export function logChanges(log: Logger, { object, changes }: ReconcileContext): void {
  for (const change of changes) {
    const wasAdoptedBefore = change.type === "Adopted" && object.status?.id !== undefined;
    if (wasAdoptedBefore || !(change.type in messages)) continue;
    const { type, id, ...details } = change as Extract<Change, { type: keyof typeof messages }>;
    log.info({ remoteID: id, generation: object.metadata.generation, ...details }, messages[type]);
  }
}
