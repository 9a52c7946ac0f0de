import { answerOf } from "./annotations.ts";
import { intentOf } from "./intent.ts";
import { hasOnlyObserved, isObserveOnly, type ManagedObject, releasedTo } from "./object.ts";

/** How the account came to have the remote of an object: the operator created it, or it was there and was adopted. */
export type Origin = "Created" | "Adopted";

/**
 * The origin of an object's remote. It does not follow `spec.adopt`, which may be added or removed later. A remote whose
 * status has an id and no origin was only observed, so it counts as adopted. Modules have no origin as a whole.
 */
export function originOf(object: ManagedObject): Origin {
  const { spec, status = {} } = object;
  if (status.origin) return status.origin;
  if (status.id === undefined) return intentOf(object) === undefined && spec.adopt ? "Adopted" : "Created";
  // Modules and entries have no creation time, and count as created.
  return status["createdAt"] === undefined ? "Created" : "Adopted";
}

/**
 * Whether deletionPolicy keeps the remote when the object is deleted, or when another remote replaces it. Without one,
 * adopted remotes stay and created ones are deleted. `leavesItsRemote` also asks annotations and observers.
 */
export function isRetainedByPolicy(object: ManagedObject, origin: Origin = originOf(object)): boolean {
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
  isRetainedByPolicy(object) ||
  isObserveOnly(object) ||
  hasOnlyObserved(object) ||
  releasedTo(object) !== undefined;
