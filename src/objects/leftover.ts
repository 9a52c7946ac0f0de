import type { Remote } from "../gateway/resource.ts";
import type { Kind } from "../schema/define.ts";
import { hasNaturalKey, remoteIDsOf } from "./identity.ts";
import { intentOf, openCreateOf } from "./intent.ts";
import { hasFinalizer, isObserveOnly, isObserver, isPaused, type ManagedObject } from "./object.ts";
import { canBeMarked, isMarkOf, type Owner, ownerMarkOf } from "./ownership.ts";

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
 * The object for which a remote has to stay: one that has it or names it, the one that its owner mark names, or one that
 * is about to find it. Undefined: no object needs it. Two GatewayAccounts may lead to one account, so it makes no
 * difference which account an object names.
 */
export function keeperOf(kind: Kind, remote: Remote, around: Surroundings): ManagedObject | undefined {
  const mark = ownerMarkOf(remote);
  return around.objects.find(
    (object) =>
      idsOf(kind, object).includes(remote.id) ||
      asksFor(kind, remote, object) ||
      (mark === undefined
        ? mayFind(kind, remote, object, around)
        : isMarkOf(mark, ownerIn(object, around)) && !surelyHasAnother(object, around)),
  );
}

/** The ids that status, spec and create intent of an object name. */
const idsOf = (kind: Kind, object: ManagedObject): (string | undefined)[] => [
  ...remoteIDsOf(kind, object),
  ...[object.spec.adopt?.id, intentOf(object)?.unmarked?.id],
];

/** Whether the object is to adopt or observe the remote that has the name in its spec, and this one has it. */
const asksFor = (kind: Kind, remote: Remote, object: ManagedObject): boolean =>
  (object.spec.adopt?.existing === true || isObserveOnly(object)) &&
  kind.naturalKey !== undefined &&
  hasNaturalKey(kind, remote, object.spec);

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
 * Whether the object may have the remote although it has no mark: it had adopted it and has lost its status, which leaves
 * the finalizer alone.
 */
function mayFind(kind: Kind, remote: Remote, object: ManagedObject, around: Surroundings): boolean {
  const { spec, status } = object;
  if (status?.id !== undefined || !hasNaturalKey(kind, remote, spec) || !hasFinalizer(object)) return false;
  const text = spec["metadata"] as string | undefined;
  return !kind.resource.update.includes("metadata") || !canBeMarked(text, ownerIn(object, around));
}
