import type { ManagedObject, Status } from "../objects/object.ts";
import type { Kind } from "../schema/define.ts";

/** A Secret as the API server gave it; `data` is decoded. Held for the length of one request, never kept. */
export interface SecretValue {
  resourceVersion: string;
  data: Readonly<Record<string, string>>;
  annotations: Readonly<Record<string, string>>;
  /** Uids of the objects that own it. */
  owners: readonly string[];
}

/** What the operator keeps in a Secret of its own. */
export interface SecretContent {
  name: string;
  data: Readonly<Record<string, string>>;
  annotations: Readonly<Record<string, string>>;
}

/** An object that refers to another, with its kind. */
export interface Referrer {
  kind: Kind;
  object: ManagedObject;
}

export interface EventDraft {
  type: "Normal" | "Warning";
  reason: string;
  /** What was being done: Create, Update, Delete, Observe. */
  action: string;
  note: string;
}

/** What converging needs of Kubernetes, and no more. Reads come from the cache, which has seen our own writes. */
export interface Cluster {
  get(kind: string, namespace: string, name: string): ManagedObject | undefined;
  /**
   * Other objects of the kind, in any namespace, that stand for this remote or mean to, or for an entry of its lists.
   */
  othersWithRemoteID(kind: Pick<Kind, "kind">, id: string, object: ManagedObject): ManagedObject[];
  /** All objects of the kind with a remote in this account: the GatewayAccount of a namespace, or the operator's own. */
  inAccount(kind: Kind, namespace: string, account: string | undefined): ManagedObject[];
  /** Objects of any kind whose spec refers to this one by name. */
  referrersOf(kind: Pick<Kind, "kind">, object: ManagedObject): Referrer[];
  /** Kinds whose objects can refer to one of this kind. */
  kindsReferringTo(kind: Pick<Kind, "kind">): Kind[];
  /** Guarded by the object's resourceVersion. Throws Outdated when somebody wrote first. */
  annotate(kind: Kind, object: ManagedObject, change: { finalizer?: true; intent?: string }): Promise<ManagedObject>;
  removeFinalizer(kind: Kind, object: ManagedObject): Promise<void>;
  /** Replaces the status of this very object; one of the same name that took its place is left alone. */
  writeStatus(kind: Kind, object: ManagedObject, status: Status): Promise<void>;
  /** Undefined when there is none. Throws when it may not be read. */
  secret(namespace: string, name: string): Promise<SecretValue | undefined>;
  /** Undefined when there is none. */
  configMap(namespace: string, name: string): Promise<Readonly<Record<string, string>> | undefined>;
  /** Makes a Secret that the object owns, or replaces the content of one that it owns already. */
  writeSecret(object: ManagedObject, content: SecretContent): Promise<void>;
  /** Fails as writing it would fail now, and changes nothing. */
  tryWriteSecret(object: ManagedObject, content: SecretContent): Promise<void>;
  isNamespaceDeleting(namespace: string): Promise<boolean>;
  /** Whether the kind itself is being deleted, and all its objects with it. */
  isKindDeleting(kind: Kind): Promise<boolean>;
  emit(object: ManagedObject, event: EventDraft): void;
}
