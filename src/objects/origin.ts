import { mayHaveCreated, type SignedIntent, signedIntentOf } from "./intent.ts";
import { hasOnlyObserved, isObserveOnly, isOrphan, type ManagedObject, releasedTo } from "./object.ts";

/** How the account came to have the remote of an object: the operator created it, or it was there and was adopted. */
export type Origin = "Created" | "Adopted";

/** Longer than any request takes, so that the remote of a known intent counts as created. */
const DEADLINE_MS = 60_000;

/** Of a remote that a create of this object may have made: only its time tells. `createdAt`: RFC 3339. */
export const originByTime = (intent: SignedIntent | undefined, createdAt: unknown): Origin =>
  intent && mayHaveCreated(intent, createdAt, DEADLINE_MS) ? "Created" : "Adopted";

/**
 * Where the remote of an object came from. It does not follow `spec.adopt`, which may be added or removed later. A status
 * written before there was an origin says so only when an intent fits the remote's creation: else the remote may be
 * somebody else's, and counts as adopted.
 */
export function originOf(object: ManagedObject): Origin {
  const { spec, status = {} } = object;
  if (status.origin) return status.origin;
  const intent = signedIntentOf(object);
  if (status.id === undefined) return intent === undefined && spec.adopt ? "Adopted" : "Created";
  // Entries and modules have no time of creation.
  if (status["createdAt"] === undefined) return spec.adopt ? "Adopted" : "Created";
  return originByTime(intent, status["createdAt"]);
}

/** Of a remote with the object's own mark: it had it before, so only `spec.adopt` can make it an adoption. */
export const originOfMarked = ({ spec, status }: ManagedObject): Origin =>
  status?.origin ?? (spec.adopt ? "Adopted" : "Created");

/** The remote is not deleted with the object. Default: retain adopted remotes, delete created ones. */
export function isRetained(object: ManagedObject, origin: Origin = originOf(object)): boolean {
  const { deletionPolicy } = object.spec;
  return deletionPolicy ? deletionPolicy === "Retain" : origin === "Adopted";
}

/**
 * A module that the object has set, by its field, stays on the remote when the object goes. What a version before has
 * set may have been there.
 */
export const isModuleRetained = ({ spec, status }: ManagedObject, field: string): boolean =>
  spec.deletionPolicy !== "Delete" && status?.moduleOrigins?.[field] !== "Created";

/** The remote stays in the account when the object goes, whatever the reason. */
export const leavesItsRemote = (object: ManagedObject): boolean =>
  isOrphan(object) ||
  isRetained(object) ||
  isObserveOnly(object) ||
  hasOnlyObserved(object) ||
  releasedTo(object) !== undefined;
