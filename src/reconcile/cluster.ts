import type { Intent } from "../objects/intent.ts";
import type { ManagedObject, Status } from "../objects/object.ts";
import type { Kind } from "../schema/define.ts";

/** A Secret as read from the API server; `data` is decoded. Used for one reconcile and never kept. */
export interface SecretValue {
  resourceVersion: string;
  data: Readonly<Record<string, string>>;
  annotations: Readonly<Record<string, string>>;
  /** Uids of the objects in its owner references. */
  owners: readonly string[];
}

/**
 * What happens to a Secret that the operator has written.
 *
 * - `owned`: Kubernetes deletes it with the object.
 * - `kept`: it stays after the object is deleted.
 * - `discarded`: it is deleted now.
 */
export type SecretOwnership = "owned" | "kept" | "discarded";

/** The content of a Secret that the operator writes. */
export interface SecretContent {
  name: string;
  data: Readonly<Record<string, string>>;
  annotations: Readonly<Record<string, string>>;
  ownership: SecretOwnership;
}

/** The content of a DNSEndpoint, from which external-dns makes records. */
export interface DNSEndpointContent {
  labels: Readonly<Record<string, string>>;
  annotations: Readonly<Record<string, string>>;
  endpoints: readonly { dnsName: string; recordType: string; targets: readonly string[]; recordTTL?: number }[];
  /** Whether the garbage collector deletes it with the object. */
  owned: boolean;
}

/** An object that refers to another, with its kind. */
export interface Referrer {
  kind: Kind;
  object: ManagedObject;
}

/**
 * Whether the objects of a kind are known.
 *
 * - `Unreadable`: there may be objects, and the operator cannot read them at the moment.
 * - `NotDefined`: the cluster has no definition of the kind, and so no objects of it.
 */
export type Visibility = "Visible" | "Unreadable" | "NotDefined";

export interface EventDraft {
  type: "Normal" | "Warning";
  reason: string;
  /** What the operator was doing, such as Create, Update, Delete, Observe or Reconcile. */
  action: string;
  note: string;
}

/** What is known of an API key. Without digest and record its value is unknown, and anybody may use it. */
export interface KnownKey {
  /** Of its value, as this process has seen it. */
  digest?: string | undefined;
  /** Of its value, by the status. Empty: nobody was ever given the value. */
  record?: string | undefined;
  /** A Secret of the object that holds it. */
  secretName?: string | undefined;
}

/** The operator or a GatewayAccount that sends requests with an API key. */
export interface KeyUser {
  /** `GatewayAccount team-a/default`, or `the operator`. */
  name: string;
  /** Undefined for the operator itself. */
  namespace?: string;
  /** The GatewayAccount is being deleted, and waits for the objects that need it. */
  isDeleting: boolean;
}

/** What cannot be read, and what is going away. */
export interface Reading {
  /** Default: in all namespaces that the operator watches. Then `Unreadable` in one of them counts for all. */
  visibilityOf(kind: string, namespace?: string): Visibility;
  /** The namespaces in which a kind is `Unreadable`. Empty if it is so in all of them. */
  unreadNamespaces(kind: string): readonly string[];
  isNamespaceDeleting(namespace: string): Promise<boolean>;
  /** Whether the CustomResourceDefinition of the kind is being deleted, and with it all objects. */
  isKindDeleting(kind: Kind): Promise<boolean>;
}

/** To which account an object belongs, and who sends requests there. */
export interface AccountQuestions {
  /** Whether both objects belong to one account, through the same GatewayAccount or different ones. */
  isSameAccount(one: ManagedObject, other: ManagedObject): boolean;
  /**
   * Whether objects of this namespace may take over remotes that somebody else has created in the account of this
   * object.
   */
  mayAdopt(object: ManagedObject): boolean;
  /**
   * Resolves when each default GatewayAccount of this object that existed before the object is known. Call it before
   * the object gets its first remote.
   */
  ensureDefaultKnown(object: ManagedObject): Promise<void>;
  /**
   * Whether a person has declared on the GatewayAccount of the object's remote that the account no longer exists, and
   * its key does not work.
   */
  isAccountOrphaned(object: ManagedObject): boolean;
  /**
   * Who uses an API key. Leaves out a GatewayAccount that is being deleted and waits for this object only.
   */
  usersOfKey(object: ManagedObject, key: KnownKey): KeyUser[];
  /** The record of a value, by its digest, for a status. Without a secret of the operator it reveals nothing. */
  tokenRecordOf(digest: string): string;
  /**
   * Whether a record was made with the secret that the operator has now. Another record, perhaps of an installation that
   * had the object before, says nothing about the token.
   */
  isTokenRecord(record: string): boolean;
}

/** Secrets and ConfigMaps. */
export interface Secrets {
  /** Undefined when it does not exist. Throws when the operator may not read it. */
  read(namespace: string, name: string): Promise<SecretValue | undefined>;
  /** Undefined when it does not exist. */
  configMap(namespace: string, name: string): Promise<Readonly<Record<string, string>> | undefined>;
  /** Creates a Secret for the object, or replaces the content of one that was written for it. */
  write(object: ManagedObject, content: SecretContent): Promise<void>;
  /** A dry run of `write`: throws what that would throw, and changes nothing. */
  tryWrite(object: ManagedObject, content: SecretContent): Promise<void>;
  /** Does nothing when the Secret does not exist or was not written for the object. */
  bind(object: ManagedObject, secret: Pick<SecretContent, "name" | "annotations" | "ownership">): Promise<void>;
}

/** The DNSEndpoint of an object. */
export interface DNSEndpoints {
  /**
   * Brings it to this content. Reads it, and writes only what differs. Throws a ReconcileError when it cannot be written.
   */
  write(object: ManagedObject, content: DNSEndpointContent): Promise<void>;
  /** Does nothing when none was written for the object, or when the operator has no right to delete it. */
  delete(object: ManagedObject): Promise<void>;
  /** Keeps the one that was written for the object after the object is deleted. */
  keep(object: ManagedObject): Promise<void>;
}

/** Questions about objects. They are read from the cache, which has the operator's own writes already. */
export interface ObjectQuestions {
  readonly kinds: readonly Kind[];
  get(kind: string, namespace: string, name: string): ManagedObject | undefined;
  /**
   * Other objects of the kind, in any namespace, that have this remote or an entry of one of its lists. Also those that
   * name it in their spec and belong to the same account.
   */
  othersWithRemoteID(kind: Pick<Kind, "kind">, id: string, object: ManagedObject): ManagedObject[];
  /** Like `othersWithRemoteID`, plus the objects that are about to adopt this remote. */
  othersSpecifying(kind: Pick<Kind, "kind">, id: string, object: ManagedObject): ManagedObject[];
  /** Other objects of any kind in the account of this one whose remotes listen on this address. */
  othersListeningOn(address: string, object: ManagedObject): ManagedObject[];
  /** All objects of the kind whose remotes are in the account of this object, through any GatewayAccount. */
  inAccount(kind: Kind, object: ManagedObject): ManagedObject[];
  /** Ids of the remotes that objects of the kind have or name, in the account of this object. */
  remoteIDsBeside(kind: Kind, object: ManagedObject): string[];
  /**
   * Objects of any kind whose spec refers to this object by name. Also those in the same account whose spec refers to a
   * remote of it by id.
   */
  referrersOf(kind: Pick<Kind, "kind">, object: ManagedObject): Referrer[];
  /** Kinds whose objects can refer to objects of this kind. */
  kindsReferringTo(kind: Pick<Kind, "kind">): readonly Kind[];
}

/** What a reconcile needs of Kubernetes: its own object, and the parts that only some steps need. */
export interface Cluster extends ObjectQuestions {
  readonly reading: Reading;
  readonly accounts: AccountQuestions;
  readonly secrets: Secrets;
  readonly endpoints: DNSEndpoints;
  /**
   * Whether an absent object of this name is known to have been deleted: its deletion was seen, or it has been absent
   * for an hour.
   */
  hasEnded(kind: Pick<Kind, "kind">, namespace: string, name: string): boolean;
  /** Throws Outdated when the object is no longer at the given resourceVersion. */
  annotate(kind: Kind, object: ManagedObject, change: { finalizer?: true; intent?: Intent }): Promise<ManagedObject>;
  removeFinalizer(kind: Kind, object: ManagedObject): Promise<void>;
  /** Replaces the status of the object. False when the object is gone. */
  writeStatus(kind: Kind, object: ManagedObject, status: Status): Promise<boolean>;
  /**
   * Makes the operator delete the remote of an object that the API server has removed although it had the finalizer.
   */
  recordUnfinalized(object: ManagedObject): void;
  /** Whether the object was removed in spite of its finalizer, and its remote is still being deleted. */
  isUnfinalized(object: ManagedObject): boolean;
  emit(object: ManagedObject, event: EventDraft): void;
}
