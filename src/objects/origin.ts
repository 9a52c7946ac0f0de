import { answerOf } from "./annotations.ts";
import { mayHaveCreated, type SignedIntent, signedIntentOf } from "./intent.ts";
import { hasOnlyObserved, isObserveOnly, type ManagedObject, releasedTo } from "./object.ts";

/** How the account came to have the remote of an object: the operator created it, or it was there and was adopted. */
export type Origin = "Created" | "Adopted";

/** Longer than the default REQUEST_TIMEOUT, so that the remote of a known intent counts as created. Milliseconds. */
const DEADLINE_MS = 60_000;

/**
 * The origin of a remote that a create of this object may have made, by its creation time alone. `createdAt`: RFC 3339.
 */
export const originByTime = (intent: SignedIntent | undefined, createdAt: unknown): Origin =>
  intent && mayHaveCreated(intent, createdAt, DEADLINE_MS) ? "Created" : "Adopted";

/**
 * The origin of an object's remote. It does not follow `spec.adopt`, which may be added or removed later. A remote whose
 * status has an id and no origin was only observed, so it counts as adopted. Modules have no origin as a whole.
 */
export function originOf(object: ManagedObject): Origin {
  const { spec, status = {} } = object;
  if (status.origin) return status.origin;
  if (status.id === undefined) return signedIntentOf(object) === undefined && spec.adopt ? "Adopted" : "Created";
  // Modules and entries have no creation time.
  return status["createdAt"] === undefined ? "Created" : "Adopted";
}

/**
 * The origin of a remote with the object's own mark. An earlier object had it, so it is adopted only if `spec.adopt`
 * says so.
 */
export const originOfMarked = ({ spec, status }: ManagedObject): Origin =>
  status?.origin ?? (spec.adopt ? "Adopted" : "Created");

/** Whether the remote stays when the object is deleted. Default: adopted remotes stay, created ones are deleted. */
export function isRetained(object: ManagedObject, origin: Origin = originOf(object)): boolean {
  const { deletionPolicy } = object.spec;
  return deletionPolicy ? deletionPolicy === "Retain" : origin === "Adopted";
}

/** Whether a module that the object has set (by its field) stays on the remote when the object is deleted. */
export const isModuleRetained = ({ spec, status }: ManagedObject, field: string): boolean =>
  spec.deletionPolicy !== "Delete" && status?.moduleOrigins?.[field] !== "Created";

/**
 * Whether the remote stays in the account when the object is deleted, for whatever reason. It may also stay while nobody
 * can tell what the annotation orphan means: the deletion then waits.
 */
export const leavesItsRemote = (object: ManagedObject): boolean =>
  answerOf(object, "orphan") !== "no" ||
  isRetained(object) ||
  isObserveOnly(object) ||
  hasOnlyObserved(object) ||
  releasedTo(object) !== undefined;
