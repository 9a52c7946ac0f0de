import type { Kind } from "../kinds/define.ts";
import type { ManagedObject, Status } from "./object.ts";

/** A Secret as the API server gave it; `data` is decoded. Held for the length of one request, never kept. */
export interface SecretValue {
  resourceVersion: string;
  data: Readonly<Record<string, string>>;
}

export interface Notice {
  type: "Normal" | "Warning";
  reason: string;
  /** What was being done: Create, Update, Delete, Observe. */
  action: string;
  note: string;
}

/** What converging needs of Kubernetes, and no more. Reads come from the cache, which has seen our own writes. */
export interface Cluster {
  get(kind: string, namespace: string, name: string): ManagedObject | undefined;
  /** Other objects of the kind, in any namespace, whose status has this remote id. */
  othersWithID(kind: Kind, id: string, object: ManagedObject): ManagedObject[];
  /** Objects of any kind whose spec refers to this one by name. */
  referrersOf(kind: Kind, object: ManagedObject): ManagedObject[];
  /** Guarded by the object's resourceVersion. Throws Outdated when somebody wrote first. */
  annotate(kind: Kind, object: ManagedObject, change: { finalizer?: true; intent?: string }): Promise<ManagedObject>;
  removeFinalizer(kind: Kind, object: ManagedObject): Promise<void>;
  /** Writes what differs from the object's status; a value of undefined removes a field. */
  writeStatus(kind: Kind, object: ManagedObject, status: Status): Promise<void>;
  /** Undefined when there is none. Throws when it may not be read. */
  secret(namespace: string, name: string): Promise<SecretValue | undefined>;
  emit(object: ManagedObject, notice: Notice): void;
}
