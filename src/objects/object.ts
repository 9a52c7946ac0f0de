import type { KubeObject, ResourceType } from "../runtime/object.ts";
import { FINALIZER, GROUP, type Reason, VERSION } from "../schema/contract.ts";
import { annotationOf, answerOf } from "./annotations.ts";

export interface Condition {
  type: string;
  status: "True" | "False" | "Unknown";
  reason: string;
  message: string;
  lastTransitionTime: string;
  observedGeneration?: number;
}

/** The values that a spec takes from one Secret. All come from one read. */
export interface SecretVersion {
  name: string;
  resourceVersion: string;
  /** The key of the Secret that each field uses, by the path of the field. */
  keys: Readonly<Record<string, string>>;
}

export interface RefusedMark {
  owner: string;
  /** RFC 3339. */
  retryAt: string;
}

export interface RefusedRequest {
  digest: string;
  reason: Reason;
  message: string;
  /** RFC 3339. */
  retryAt: string;
}

/** What the next process has to know of what the object has in the account, or has left there. */
export interface Bookkeeping {
  /** The origin of each module that the spec sets, for kinds that only set modules. */
  moduleOrigins?: Readonly<Record<string, "Created" | "Adopted">> | undefined;
  /** The owner mark of the object for which the status was written. Set if the remote carries none. */
  owner?: string | undefined;
  /** The owner mark of a former object, if the remote still carries that and the operator cannot replace it. */
  formerOwner?: string | undefined;
  /** The owner mark that the service has refused for the remote, and when the next process tries it again. */
  refusedMark?: RefusedMark | undefined;
  /** The request that the service has refused, and when the next process sends it again. */
  refusedRequest?: RefusedRequest | undefined;
  /** The remote that is deleted and created again, of an object that only reports what others change. */
  recreating?: string | undefined;
  /** Remotes that were replaced, oldest first. Each is here until nothing refers to it and it is deleted. */
  retiring?: readonly string[] | undefined;
  /** Ids of remotes without a list and without an object, on which a module was left that refers to this remote. */
  leftOn?: readonly string[] | undefined;
  /** Spec fields whose values the account has, or may have, from this object. */
  appliedFields?: readonly string[] | undefined;
  appliedSecrets?: readonly SecretVersion[] | undefined;
  appliedDigest?: string | undefined;
  /** Name of the Secret that the operator has written for the object. */
  outputSecret?: string | undefined;
  /**
   * For remotes with a value that the service shows once: the digest of the value, made with a secret of the operator, by
   * the id. Empty: nobody was ever given the value.
   */
  tokenDigests?: Readonly<Record<string, string>> | undefined;
}

/** The status that every kind has; each kind adds the read-only members of its resource. */
export interface Status extends Bookkeeping {
  id?: string;
  /** The GatewayAccount of the remote. Unset: the operator's own credentials. */
  account?: string | undefined;
  /** False: the status has the id of a remote that the object only observes, or that another object has taken over. */
  holds?: boolean | undefined;
  /** Whether the operator created the remote or adopted it. Not set while it only observes. */
  origin?: "Created" | "Adopted" | undefined;
  /** The create that made the remote, as in its owner mark: see objects/intent.ts. Not set if it was adopted. */
  created?: string | undefined;
  drift?: readonly string[] | undefined;
  lastHandledReconcileAt?: string;
  observedGeneration?: number;
  conditions?: readonly Condition[];
  /** Text for the columns of `kubectl get`. */
  columns?: Readonly<Record<string, string>>;
  [field: string]: unknown;
}

/** The spec fields that every kind has. */
export interface CommonSpec {
  accountRef?: { name: string };
  adopt?: { id?: string; existing?: true; from?: string };
  managementPolicy?: "Full" | "ObserveOnly";
  deletionPolicy?: "Delete" | "Retain";
  driftPolicy?: "Correct" | "Report";
  replacement?: "Recreate";
}

/** An object of one of our kinds, as the API server has it. */
export interface ManagedObject extends KubeObject {
  metadata: KubeObject["metadata"] & { namespace: string; uid: string; generation: number };
  spec: CommonSpec & Record<string, unknown>;
  status?: Status;
}

/** Ids of remotes that were replaced and are not deleted yet, oldest first. */
export const retiringIDs = ({ retiring = [] }: Pick<Status, "retiring"> = {}): readonly string[] => retiring;

/** Whether the object may have a remote. */
export const hasFinalizer = ({ metadata }: Pick<KubeObject, "metadata">): boolean =>
  metadata.finalizers?.includes(FINALIZER) === true;

/** Whether an object was created before another one. */
export const isOlder = (one: ManagedObject, other: ManagedObject): boolean => ageOf(one) < ageOf(other);

const ageOf = ({ metadata }: ManagedObject): string => `${metadata.creationTimestamp} ${metadata.uid}`;

export const isDeleting = (object: ManagedObject): boolean => object.metadata.deletionTimestamp !== undefined;

/** Whether the object is left alone. Also true while nobody can tell what the annotation means. */
export const isPaused = (object: Pick<KubeObject, "metadata">): boolean => answerOf(object, "paused") !== "no";
export const isOrphan = (object: Pick<KubeObject, "metadata">): boolean => answerOf(object, "orphan") === "yes";
/** `<namespace>/<name>` of the object to which this object releases its remote. */
export const releasedTo = (object: ManagedObject): string | undefined => annotationOf(object, "releaseTo");
/**
 * Whether the operator writes nothing for the object any more. An object that still has to delete replaced remotes does
 * that first.
 */
export const isReleased = (object: ManagedObject): boolean =>
  releasedTo(object) !== undefined && retiringIDs(object.status).length === 0;
/** Whether the command `uninstall` waits for the deletion of this object. */
export const isUninstalling = (object: Pick<KubeObject, "metadata">): boolean =>
  annotationOf(object, "uninstalling") !== undefined;
/** `<namespace>/<name>`. */
export const nameOf = ({ metadata: { namespace, name } }: ManagedObject): string => `${namespace}/${name}`;
/** `<kind>/<namespace>/<name>`, which tells one object from those of all kinds. */
export const keyWithKindOf = (object: ManagedObject): string => `${object.kind}/${nameOf(object)}`;
export const isObserveOnly = (object: ManagedObject): boolean => object.spec.managementPolicy === "ObserveOnly";
/** Whether the object asks for what its spec names, and has not ended. */
export const isAsking = (object: ManagedObject): boolean => !isDeleting(object) && !isObserveOnly(object);

/** Whether the object holds no remote, although its status may have the id of one. */
export const isObserver = (object: ManagedObject): boolean => isObserveOnly(object) || object.status?.holds === false;
/** Whether the object holds the remote with this id, or may hold it once other objects release it. */
export const hasOwnID = (object: ManagedObject, id: string): boolean => object.status?.id === id && !isObserver(object);
/** Whether the object has only observed so far. It never held the remote in its status. */
export const hasOnlyObserved = (object: ManagedObject): boolean => {
  const { holds, origin, appliedFields = [] } = object.status ?? {};
  return !isObserveOnly(object) && holds === false && origin === undefined && appliedFields.length === 0;
};

/** Whether the last status says that the remote is as the present spec says. */
export const isAsSpecified = (object: ManagedObject): boolean => {
  const { status, observedGeneration } = conditionOf(object.status, "Ready") ?? {};
  return status === "True" && observedGeneration === object.metadata.generation && !isDeleting(object);
};

/** Whether the operator has not looked at the object yet. */
export const isPending = ({ status, metadata }: ManagedObject): boolean =>
  status?.id === undefined &&
  metadata.deletionTimestamp === undefined &&
  (conditionOf(status, "Ready")?.reason ?? "Pending") === "Pending";

/** Whether the annotation reconcile-requested-at asks for a reconcile that has not been done yet. */
export function isReconcileRequested(object: ManagedObject): boolean {
  const requested = reconcileRequestedAt(object);
  return requested !== undefined && requested !== object.status?.lastHandledReconcileAt;
}

/** The value of the annotation reconcile-requested-at, also of a GatewayAccount. */
export const reconcileRequestedAt = (object: Pick<KubeObject, "metadata">): string | undefined =>
  annotationOf(object, "reconcileRequestedAt");

export function conditionOf(status: Pick<Status, "conditions"> | undefined, type: string): Condition | undefined {
  // asked for all objects at each scrape: `find` would make a closure for each
  for (const condition of status?.conditions ?? []) if (condition.type === type) return condition;
  return undefined;
}

/** The API in which the objects of one of our kinds are. */
export const typeOf = ({ plural, kind }: { plural: string; kind: string }): ResourceType => ({
  group: GROUP,
  version: VERSION,
  plural,
  kind,
});
