import type { Account } from "../account/account.ts";
import type { RequestOptions } from "../account/calls.ts";
import {
  type CreatableRemotes,
  isCreatable,
  isUpdatable,
  type Remotes,
  type UpdatableRemotes,
} from "../account/remotes.ts";
import type { Lane } from "../account/request-budget.ts";
import type { Remote } from "../gateway/resource.ts";
import { managedMembers } from "../objects/identity.ts";
import { type ManagedObject, retiringIDs, type SecretVersion } from "../objects/object.ts";
import type { Owner } from "../objects/ownership.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Kind } from "../schema/define.ts";
import type { Cluster } from "./cluster.ts";

/** What a reconcile did or found in the account. Events, log lines and metrics are made of these, in their order. */
export type Change =
  /** The remote belongs to this object from now on; it was in the account already. */
  | { type: "Adopted"; id: string }
  /** The remote is what an interrupted create of this object has made. */
  | { type: "Recovered"; id: string }
  /** These remotes could be this object's as well. They are left as they are. */
  | { type: "Duplicates"; ids: string[] }
  /** The service says that the remote with the id in the status does not exist. */
  | { type: "Missing"; id: string }
  /** `replaces`: the remote that is deleted once nothing refers to it. */
  | { type: "Created"; id: string; replaces?: string | undefined }
  /** `drifted`: somebody else had changed these spec fields in the account. */
  | { type: "Updated"; id: string; fields: string[]; drifted: boolean }
  | { type: "Deleted"; id: string };

/** What is known of the remote so far. It reaches the status even when a later step fails. */
export interface RemoteState {
  /** The latest answer about the remote. */
  remote?: Remote;
  /** Ids of the remotes that were replaced and are not deleted yet, oldest first. Unset: as the status says. */
  retiring?: readonly string[];
  appliedFields?: string[];
  /** Spec fields that an interrupted create had sent; the status does not know of them yet. */
  sentFields?: readonly string[];
  appliedSecrets?: SecretVersion[];
  appliedDigest?: string;
  /** A request that changes the remote was sent, whatever came of it. */
  sent?: true;
  /** Spec fields that differ in the account and are left so. */
  drift?: { fields: string[]; reason: "RemoteDiffers" | "RemoteNormalises"; message: string };
  /** The remote is shared, and was there before any object of this operator. */
  preexisting?: boolean;
}

/** All that one reconcile of one object works with. */
export interface ReconcileContext {
  readonly kind: Kind;
  /** As last written; replaced by the answer of each own write. */
  object: ManagedObject;
  readonly owner: Owner;
  readonly cluster: Cluster;
  /** May throw Waiting or Blocked: there may be no account to go to, or another than before. */
  readonly account: Account;
  readonly clock: Clock;
  readonly lane: Lane;
  readonly signal: AbortSignal;
  /** The GatewayAccount that `account` belongs to; empty for the operator's own credentials. */
  readonly accountName: string;
  readonly state: RemoteState;
  readonly changes: Change[];
}

/** Whether this reconcile has recorded such a change. */
export const has = ({ changes }: Pick<ReconcileContext, "changes">, type: Change["type"]): boolean =>
  changes.some((change) => change.type === type);

/** Ids of the remotes that were replaced and are still to be deleted, oldest first. */
export const retiringOf = ({ state, object }: Pick<ReconcileContext, "state" | "object">): readonly string[] =>
  state.retiring ?? retiringIDs(object.status);

/** Remembers that a remote was replaced and is to be deleted. */
export function retire(context: ReconcileContext, id: string): void {
  context.state.retiring = [...new Set([...retiringOf(context), id])];
}

export const remotesOf = ({ account, kind }: ReconcileContext): Remotes => account.remotes(kind);

/** For steps that create or delete, which nothing takes for a kind whose remotes the operator cannot create. */
export function creatableRemotesOf(context: ReconcileContext): CreatableRemotes {
  const remotes = remotesOf(context);
  if (isCreatable(remotes)) return remotes;
  throw new TypeError(`the remote of a ${context.kind.kind} cannot be created or deleted`);
}

/** For steps that update, which nothing takes for a kind of which nothing can be updated. */
export function updatableRemotesOf(context: ReconcileContext): UpdatableRemotes {
  const remotes = remotesOf(context);
  if (isUpdatable(remotes)) return remotes;
  throw new TypeError(`nothing of a ${context.kind.kind} can be updated`);
}

/** The remote of an object, cached or read, with all members that the object manages. */
export const getRemote = (context: ReconcileContext, id: string): Promise<Remote | undefined> =>
  remotesOf(context).get(id, requestOptions(context), managedMembers(context.kind, context.object));

/** The same, read from the service in any case. */
export const readRemote = (context: ReconcileContext, id: string): Promise<Remote | undefined> =>
  remotesOf(context).read(id, requestOptions(context), managedMembers(context.kind, context.object));

export const requestOptions = ({ lane, signal }: ReconcileContext): RequestOptions => ({ lane, signal });

/** Objects of a kind with a remote in the account of this reconcile, whether its own object has one yet or not. */
export const objectsInAccount = ({ cluster, object, accountName }: ReconcileContext, kind: Kind): ManagedObject[] =>
  cluster.inAccount(kind, object.metadata.namespace, accountName || undefined);

/** Epoch milliseconds. */
export const now = ({ clock }: ReconcileContext): number => clock.date().getTime();

/** Spec fields whose values the account has from this object, the spec as it is now aside. */
export const appliedOf = ({ state, object }: ReconcileContext): readonly string[] =>
  state.sentFields ?? object.status?.appliedFields ?? [];
