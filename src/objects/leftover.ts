import type { Remote } from "../gateway/resource.ts";
import type { Kind } from "../schema/define.ts";
import { naturalKeyOf, remoteIDsOf } from "./identity.ts";
import { intentOf, openCreateOf } from "./intent.ts";
import { hasFinalizer, isObserveOnly, isObserver, isPaused, type ManagedObject, nameOf } from "./object.ts";
import { canBeMarked, isMarkOf, type Owner, objectOf, ownerMarkOf } from "./ownership.ts";

/** What is known when a remote is judged. */
export interface Surroundings {
  /** The id of the cluster in owner marks. */
  clusterID: string;
  /** All objects of the kind: of all namespaces, and whatever account they name. */
  objects: readonly ManagedObject[];
  /** Whether the account has a remote of the kind with this id. */
  exists: (id: string) => boolean;
}

/**
 * Whether a remote of this kind can be a leftover. A credential never is: who uses it shows nowhere, and it may be the
 * key with which the operator and this very process send.
 */
export const canBeLeft = ({ output }: Kind): boolean => output?.shownOnce !== true;

/**
 * Finds the object for which a remote has to stay: one that has it or names it, one that is about to find it, or the one
 * that its owner mark names. Undefined: no object needs it. Two GatewayAccounts may lead to one account, so it makes no
 * difference which account an object names.
 */
export function keepersAmong(kind: Kind, around: Surroundings): (remote: Remote) => ManagedObject | undefined {
  const { objects } = around;
  const naming = firstBy(objects, (object) => idsOf(kind, object));
  const named = firstBy<string | undefined>(objects, (object) => [nameOf(object)]);
  const asking = firstBy(objects.filter(asksForExisting), ({ spec }) => [naturalKeyOf(kind, spec)]);
  const finding = firstBy(
    objects.filter((object) => mayFindUnmarked(kind, object, around)),
    ({ spec }) => [naturalKeyOf(kind, spec)],
  );
  return (remote) => {
    const key = naturalKeyOf(kind, remote);
    const byID = naming.get(remote.id) ?? (kind.naturalKey === undefined ? undefined : asking.get(key));
    if (byID) return byID;
    const mark = ownerMarkOf(remote);
    if (mark === undefined) return finding.get(key);
    const owner = named.get(objectOf(mark));
    return owner && isMarkOf(mark, ownerIn(owner, around)) && !surelyHasAnother(owner, around) ? owner : undefined;
  };
}

/** The first object of each key. */
function firstBy<K>(
  objects: readonly ManagedObject[],
  keysOf: (object: ManagedObject) => readonly K[],
): Map<K, ManagedObject> {
  const first = new Map<K, ManagedObject>();
  for (const object of objects) for (const key of keysOf(object)) if (!first.has(key)) first.set(key, object);
  return first;
}

/** The ids that status, spec and create intent of an object name. */
const idsOf = (kind: Kind, object: ManagedObject): (string | undefined)[] => [
  ...remoteIDsOf(kind, object),
  ...[object.spec.adopt?.id, intentOf(object)?.unmarked?.id],
];

/** Whether the object is to adopt or observe the remote that has the natural key of its spec. */
const asksForExisting = (object: ManagedObject): boolean =>
  object.spec.adopt?.existing === true || isObserveOnly(object);

const ownerIn = ({ metadata: { namespace, name = "" } }: ManagedObject, { clusterID }: Surroundings): Owner => ({
  cluster: clusterID,
  namespace,
  name,
});

/**
 * Whether the object has a remote, and will not come back to one that bears its mark. It may, after an interrupted
 * create, when a status was restored or lost, or when it goes on after a pause.
 */
const surelyHasAnother = (object: ManagedObject, { exists }: Surroundings): boolean =>
  object.status?.id !== undefined &&
  exists(object.status.id) &&
  !isPaused(object) &&
  !isObserver(object) &&
  openCreateOf(object) === undefined;

/**
 * Whether the object may have a remote with its natural key, if it has one, that has no mark: it had adopted it and has
 * lost its status, which leaves the finalizer alone.
 */
function mayFindUnmarked(kind: Kind, object: ManagedObject, around: Surroundings): boolean {
  const { spec, status } = object;
  if (status?.id !== undefined || !hasFinalizer(object)) return false;
  const text = spec["metadata"] as string | undefined;
  return !kind.resource.update.includes("metadata") || !canBeMarked(text, ownerIn(object, around));
}
