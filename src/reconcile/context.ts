import type { Account } from "../account/account.ts";
import type { RequestOptions } from "../account/calls.ts";
import type { Remote } from "../account/inventory.ts";
import type { Remotes } from "../account/remotes.ts";
import type { Lane } from "../account/request-budget.ts";
import { managedMembers } from "../objects/identity.ts";
import type { ManagedObject, SecretVersion } from "../objects/object.ts";
import type { Owner } from "../objects/ownership.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Answer, Kind } from "../schema/define.ts";
import type { Cluster } from "./cluster.ts";

/** What came out of a reconcile by now. It reaches the status even when a later step fails. */
export interface Findings {
  /** The latest answer about the remote. */
  remote?: Answer & { id: string };
  /** The GatewayAccount whose account this is; empty for the operator's own credentials. */
  account?: string;
  /** The id in the status names nothing any more. */
  gone?: true;
  /** The remote that this one took the place of, to be deleted once nothing refers to it. */
  retiring?: string;
  /** The one that was to be deleted is gone. */
  retired?: true;
  appliedFields?: string[];
  /** Spec fields that a create had sent whose answer was lost; the status does not know of them yet. */
  sentFields?: readonly string[];
  appliedSecrets?: SecretVersion[];
  appliedDigest?: string;
  /** Something that changes the remote was sent, whatever came of it. */
  sent?: true;
  /** Spec fields that differ in the account and are left so. */
  drift?: { fields: string[]; reason: "RemoteDiffers" | "RemoteNormalises"; message: string };
  /** Fields that somebody else had changed, and that were put right. */
  corrected?: string[];
  /** The remote was made in this reconcile. */
  created?: true;
  /** The id of the remote that was deleted in this reconcile. */
  deleted?: string;
  /** Spec fields that were sent in an update. */
  updated?: string[];
  /** The remote is shared, and was there before any object of ours. */
  preexisting?: boolean;
  /** The remote is what an interrupted create has made. */
  recovered?: true;
  /** Ids of further remotes that pass for this object's, and are left as they are. */
  doubles?: string[];
  /** The remote was taken over in this reconcile. */
  adopted?: true;
}

/** One look at one object. */
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
  readonly findings: Findings;
}

export const remotesOf = ({ account, kind }: ReconcileContext): Remotes => account.remotes(kind);

/** The remote of an object with all that the object is concerned with. `fresh` asks the service in any case. */
export const getRemote = (context: ReconcileContext, id: string, fresh = false): Promise<Remote | undefined> =>
  remotesOf(context).find(id, requestOptions(context), fresh, managedMembers(context.kind, context.object));

export const requestOptions = ({ lane, signal }: ReconcileContext): RequestOptions => ({ lane, signal });

/** Objects of a kind with a remote in the account of this reconcile, whether its own object has one yet or not. */
export const objectsInAccount = ({ cluster, object, findings }: ReconcileContext, kind: Kind): ManagedObject[] =>
  cluster.inAccount(kind, object.metadata.namespace, findings.account || undefined);

/** Epoch milliseconds. */
export const now = ({ clock }: ReconcileContext): number => clock.date().getTime();

/** Spec fields whose values the account has from this object, the spec as it is now aside. */
export const appliedOf = ({ findings, object }: ReconcileContext): readonly string[] =>
  findings.sentFields ?? object.status?.appliedFields ?? [];
