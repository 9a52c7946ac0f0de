import type { KubeObject } from "../runtime/object.ts";
import { annotations } from "../schema/contract.ts";
import type { Intent } from "./intent.ts";

export interface Condition {
  type: string;
  status: "True" | "False" | "Unknown";
  reason: string;
  message: string;
  lastTransitionTime: string;
  observedGeneration?: number;
}

/** The values that a spec takes from one Secret, all of them from one read. */
export interface SecretVersion {
  name: string;
  resourceVersion: string;
  /** The key whose value each field took, by the path of the field. Statuses of earlier versions have none. */
  keys?: Readonly<Record<string, string>>;
}

/** The status that every kind has; each kind adds the read-only members of its resource. */
export interface Status {
  id?: string;
  /** The GatewayAccount that the remote belongs to; unset: the operator's own credentials. */
  account?: string | undefined;
  /** The remote existed before any object of ours, and is not deleted with them. */
  preexisting?: boolean | undefined;
  /** False: the object has the id of a remote that it only observes, or that another object has taken over from it. */
  holds?: boolean | undefined;
  /** Whether the operator created the remote, or adopted what was there. Unset by versions before. */
  origin?: "Created" | "Adopted" | undefined;
  /** The same for each module that the spec sets, where the object sets only modules. Unset by versions before. */
  moduleOrigins?: Readonly<Record<string, "Created" | "Adopted">> | undefined;
  /** The owner mark of the object that the status was written for. Set where the remote carries none. */
  owner?: string | undefined;
  /** The remote that was replaced, until nothing refers to it. */
  retiring?: string | undefined;
  /** Remotes that were replaced after `retiring`, which could not be deleted yet; oldest first. */
  retiringLater?: readonly string[] | undefined;
  /** Remotes without a list and without an object, by their ids, that were left with a module that refers to this one. */
  leftOn?: readonly string[] | undefined;
  appliedFields?: readonly string[];
  appliedSecrets?: readonly SecretVersion[];
  appliedDigest?: string;
  /** Name of the Secret that the operator has written for the object. */
  outputSecret?: string | undefined;
  drift?: readonly string[] | undefined;
  lastHandledReconcileAt?: string;
  observedGeneration?: number;
  conditions?: readonly Condition[];
  /** Texts for the table of `kubectl get`. */
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
  /**
   * What the annotation `create-intent` says, as far as it may be believed. Set when an object is read from the API
   * server, which knows no such member.
   */
  intent?: Intent | undefined;
}

/** Ids of remotes that were replaced and are not deleted yet, oldest first. */
export const retiringIDs = ({
  retiring,
  retiringLater = [],
}: Pick<Status, "retiring" | "retiringLater"> = {}): string[] =>
  retiring === undefined ? [...retiringLater] : [retiring, ...retiringLater];

export const isDeleting = (object: ManagedObject): boolean => object.metadata.deletionTimestamp !== undefined;

const annotationOf = (object: ManagedObject, name: string): string | undefined => object.metadata.annotations?.[name];

export const isPaused = (object: ManagedObject): boolean => annotationOf(object, annotations.paused) === "true";
export const isOrphan = (object: ManagedObject): boolean => annotationOf(object, annotations.orphan) === "true";
/** `<namespace>/<name>` of the object that is to take the remote of this one. */
export const releasedTo = (object: ManagedObject): string | undefined => annotationOf(object, annotations.releaseTo);
/** Whether nothing is written for the object any more. One that still has to delete what it replaced does that first. */
export const isReleased = (object: ManagedObject): boolean =>
  releasedTo(object) !== undefined && retiringIDs(object.status).length === 0;
/** Whether the command `uninstall` waits for the end of this object. */
export const isUninstalling = (object: ManagedObject): boolean =>
  annotationOf(object, annotations.uninstalling) !== undefined;
/** `<namespace>/<name>`. */
export const nameOf = ({ metadata: { namespace, name } }: ManagedObject): string => `${namespace}/${name}`;
export const isObserveOnly = (object: ManagedObject): boolean => object.spec.managementPolicy === "ObserveOnly";

/** Whether the object holds nothing, although its status has the id of a remote. */
export const isObserver = (object: ManagedObject): boolean => isObserveOnly(object) || object.status?.holds === false;
/** Whether the object holds the remote with this id, or may once the others let go of it. */
export const hasOwnID = (object: ManagedObject, id: string): boolean => object.status?.id === id && !isObserver(object);
/** Whether the object was to observe until now, and never held a remote: the one in its status was never its own. */
export const hasOnlyObserved = (object: ManagedObject): boolean => {
  const { holds, origin, appliedFields = [] } = object.status ?? {};
  return !isObserveOnly(object) && holds === false && origin === undefined && appliedFields.length === 0;
};

/** The annotation reconcile-requested-at asks to read the remote again, and this has not been done yet. */
export function isReconcileRequested(object: ManagedObject): boolean {
  const requested = annotationOf(object, annotations.reconcileRequestedAt);
  return requested !== undefined && requested !== object.status?.lastHandledReconcileAt;
}

export const reconcileRequestedAt = (object: ManagedObject): string | undefined =>
  annotationOf(object, annotations.reconcileRequestedAt);

export const conditionOf = (status: Pick<Status, "conditions"> | undefined, type: string): Condition | undefined =>
  status?.conditions?.find((condition) => condition.type === type);
