import type { Account } from "../account/account.ts";
import type { ObjectMemory } from "../account/object-memory.ts";
import type { ObjectRecord } from "../account/object-record.ts";
import {
  type CreatableRemotes,
  isCreatable,
  isUpdatable,
  type Remotes,
  type UpdatableRemotes,
} from "../account/remotes/remotes.ts";
import type { RequestOptions } from "../account/requests/calls.ts";
import type { Lane, RequestBudget } from "../account/requests/request-budget.ts";
import type { Turn } from "../account/requests/turn.ts";
import type { Remote } from "../gateway/resource.ts";
import type { DeclaredError } from "../objects/errors/declare.ts";
import { managedMembers } from "../objects/identity.ts";
import { openCreateOf } from "../objects/intent.ts";
import {
  type Bookkeeping,
  isObserver,
  type ManagedObject,
  type RefusedMark,
  type RefusedRequest,
  retiringIDs,
  type SecretVersion,
  type Status,
} from "../objects/object.ts";
import { isRetainedByPolicy, type Origin } from "../objects/origin.ts";
import { createIn, type Mark, type Owner, ownerMark } from "../objects/ownership.ts";
import type { Waiting } from "../objects/reconcile-error.ts";
import { appliedSecretsOf as appliedSecretsOfObject } from "../objects/secret-versions.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Kind } from "../schema/define.ts";
import { withArticle } from "../schema/nouns.ts";
import type { Cluster } from "./cluster.ts";
import type { DNS } from "./dns.ts";

/** The most replaced remotes that a status may list. A service that deletes nothing must not stop renewals. */
const MOST_RETIRING = 20;

/** What a reconcile did, or found in the account. Events, log lines and metrics are made from these, in this order. */
export type Change =
  /** The object took over a remote that was in the account already. */
  | { type: "Adopted"; id: string }
  /** An interrupted create of this object had made the remote. */
  | { type: "Recovered"; id: string }
  /** These remotes match the object as well as its own. They are left as they are. */
  | { type: "Duplicates"; ids: string[] }
  /** The service says that the remote with the id in the status does not exist. */
  | { type: "Missing"; id: string }
  /** `replaces`: the remote that is deleted once nothing refers to it. */
  | { type: "Created"; id: string; replaces?: string | undefined }
  /** `drifted`: somebody else had changed these spec fields in the account. */
  | { type: "Updated"; id: string; fields: string[]; drifted: boolean }
  | { type: "Deleted"; id: string };

/**
 * What this reconcile has found out about the remote so far. All of it reaches the status, even when a later step
 * fails.
 */
export interface RemoteState {
  /** What the next process has to know. */
  readonly next: NextBookkeeping;
  /** The latest answer about the remote. */
  remote?: Remote;
  /** Whether the object holds the remote. Unset: as in the status. */
  holds?: boolean;
  /** Set when the remote was created or adopted in this reconcile. */
  origin?: Origin;
  /** The create that made the remote. Empty: it was adopted. Set together with `origin`. */
  created?: string;
  /** Spec fields that an interrupted create had sent and that are not in the status yet. */
  sentFields?: readonly string[];
  /** Digest of the values to which the spec refers, for a failure. Set once they have been read. */
  inputs?: () => string;
  /** Names of the Secrets with values that were never sent. Set once they have been read. */
  newSecrets?: readonly string[];
  /** Digest of what the object asks for, for a refusal. Set once that is known. */
  asked?: () => string;
  /** Set when a create or update was sent, whatever its outcome. */
  sent?: true;
  /** Spec fields that differ in the account and are not corrected. */
  drift?: { fields: string[]; reason: "RemoteDiffers" | "RemoteNormalises"; message: string };
  /** An address on which an older object listens too, and that object. */
  sharedAddress?: { address: string; with: string } | undefined;
  /**
   * Fields that the spec has dropped since an update of which nobody knows the outcome. It may arrive late, and nothing
   * compares the fields any more once they are forgotten. `waitMs`: how long it may still arrive.
   */
  uncertain?: { fields: readonly string[]; waitMs: number };
  /** The status after this reconcile, whether it had to be written or not. */
  reported?: Status;
}

type Known<T> = { -readonly [Field in keyof T]: NonNullable<T[Field]> };

/**
 * Fields of the next status. The status loses one that is empty here, and keeps one that is unset here, but for
 * `appliedDigest`: it goes when a request was sent.
 */
interface NextBookkeeping extends Known<Omit<Bookkeeping, "refusedMark" | "refusedRequest">> {
  /** Null: none. */
  refusedMark?: RefusedMark | null;
  /** Null: none. */
  refusedRequest?: RefusedRequest | null;
}

/** What one reconcile of one object works with. */
export interface ReconcileContext {
  readonly kind: Kind;
  /** As last read or written: each write of this reconcile replaces it with the API server's answer. */
  object: ManagedObject;
  readonly owner: Owner;
  /**
   * Whether a person has set the id of the cluster. Otherwise the id is that of a namespace, which is new in a rebuilt
   * cluster.
   */
  readonly isClusterIDSet: boolean;
  readonly cluster: Cluster;
  readonly dns: DNS;
  /**
   * Reading it throws Waiting when there is no account, Blocked when the remote of the object belongs to another
   * account, and Outdated when the account has changed since the first read.
   */
  readonly account: Account;
  /** What this process remembers of objects. */
  readonly memory: ObjectMemory;
  /** What it remembers of this one. */
  readonly record: ObjectRecord;
  readonly clock: Clock;
  readonly lane: Lane;
  readonly signal: AbortSignal;
  /** Unset: this reconcile is never postponed. */
  readonly turn?: Turn;
  /** The request budget, also while `account` throws. Unset: that of `account`. */
  readonly budget?: () => RequestBudget | undefined;
  /** The GatewayAccount that `account` belongs to; empty for the operator's own credentials. */
  readonly accountName: string;
  /** The GatewayAccount that the spec asks for; empty for the operator's own credentials. */
  readonly specifiedAccountName: string;
  readonly state: RemoteState;
  readonly changes: Change[];
}

/** Whether this reconcile has recorded a change of this type. */
export const has = ({ changes }: Pick<ReconcileContext, "changes">, type: Change["type"]): boolean =>
  changes.some((change) => change.type === type);

/** Ids of the replaced remotes that are still to be deleted, oldest first. */
export const retiringOf = ({ state, object }: Pick<ReconcileContext, "state" | "object">): readonly string[] =>
  state.next.retiring ?? retiringIDs(object.status);

/** Records how the account came to have the remote of the object. `created`: the create that made it. */
export function noteOrigin({ state }: Pick<ReconcileContext, "state">, origin: Origin, created = ""): void {
  state.origin = origin;
  state.created = created;
}

export function forgetOrigin({ state }: Pick<ReconcileContext, "state">): void {
  delete state.origin;
  delete state.created;
}

/** Like `noteOrigin`, for a remote with the object's own mark, which says it. */
export function noteOriginOfMarked(context: ReconcileContext, remote: Remote): void {
  const created = createIn(remote, context.owner);
  noteOrigin(context, created === undefined ? "Adopted" : "Created", created);
}

/** The owner mark that a remote of the object has to carry. */
export function markFor({ state, object: { status }, owner }: ReconcileContext, remote: Remote): Mark {
  const isRecorded = status?.id === remote.id && status.origin !== undefined;
  const create = state.created ?? (isRecorded ? status.created : createIn(remote, owner));
  return { ...owner, create: create || undefined };
}

/**
 * Records that a remote was replaced and has to be deleted, unless the object retains it or never held it. `origin`:
 * its origin, if the status does not have it.
 */
export function retire(context: ReconcileContext, id: string, origin?: Origin): void {
  if (isRetainedByPolicy(context.object, origin) || isObserver(context.object)) return;
  const all = [...new Set([...retiringOf(context), id])];
  for (const left of all.slice(0, -MOST_RETIRING)) tellLeft(context, left);
  context.state.next.retiring = all.slice(-MOST_RETIRING);
}

function tellLeft({ cluster, object }: ReconcileContext, id: string): void {
  const note = `Delete ${id} in the account, once nothing uses it: it is the oldest of more than ${MOST_RETIRING} that were replaced and could not be deleted`;
  cluster.emit(object, { type: "Warning", reason: "InUse", action: "Delete", note });
}

/** Undefined when the object has no account, or its account is unknown. The reconcile reports that itself. */
export function accountOf(context: ReconcileContext): Account | undefined {
  try {
    return context.account;
  } catch {
    return undefined;
  }
}

export const remotesOf = ({ account, kind }: ReconcileContext): Remotes => account.remotes(kind);

/** For steps that create or delete. Throws TypeError for a kind whose remotes the operator cannot create. */
export function creatableRemotesOf(context: ReconcileContext): CreatableRemotes {
  const remotes = remotesOf(context);
  if (isCreatable(remotes)) return remotes;
  throw new TypeError(`the remote of ${withArticle(context.kind.kind)} cannot be created or deleted`);
}

/** For steps that update. Throws TypeError for a kind whose remotes cannot be updated. */
export function updatableRemotesOf(context: ReconcileContext): UpdatableRemotes {
  const remotes = remotesOf(context);
  if (isUpdatable(remotes)) return remotes;
  throw new TypeError(`nothing of ${withArticle(context.kind.kind)} can be updated`);
}

/** The remote with this id, cached or read, with all members that the object manages. */
export const getRemote = (context: ReconcileContext, id: string): Promise<Remote | undefined> =>
  remotesOf(context).get(id, requestOptions(context), managedMembers(context.kind, context.object));

/** Like `getRemote`, but always read from the service. */
export const readRemote = (context: ReconcileContext, id: string): Promise<Remote | undefined> =>
  remotesOf(context).read(id, requestOptions(context), managedMembers(context.kind, context.object));

export const requestOptions = (context: ReconcileContext): RequestOptions => ({
  lane: context.lane,
  signal: context.signal,
  turn: context.turn,
  assertValid: () => assertSameAccount(context),
  onUnanswered: () => context.record.recordUnansweredChange(),
});

/** Throws Outdated when the object has moved to another account since the reconcile began. */
export const assertSameAccount = (context: Pick<ReconcileContext, "account">): unknown => context.account;

/**
 * Call it before the object gets its first remote. Throws Outdated when a GatewayAccount has appeared to which the
 * object belongs.
 */
export async function ensureAccountKnown(context: ReconcileContext): Promise<void> {
  if (context.object.status?.id !== undefined) return;
  await context.cluster.accounts.ensureDefaultKnown(context.object);
  assertSameAccount(context);
}

/** The create that may have been sent and whose outcome nobody knows. */
export function pendingCreateOf({ object, record }: Pick<ReconcileContext, "object" | "record">): string | undefined {
  const create = openCreateOf(object);
  return create === undefined || record.isCreateFutile(create) ? undefined : create;
}

/** Milliseconds in which the service may still carry out what was sent for the object; 0 or less: none. */
export const msUntilSettled = ({ record, clock }: Pick<ReconcileContext, "record" | "clock">): number =>
  record.settledAt - clock.now();

/** Throws Waiting if there are milliseconds to wait. */
export function refuseUnsettled<Values extends object>(
  wait: number,
  unsettled: DeclaredError<Values, Waiting>,
  values: Values,
): void {
  if (wait > 0) throw unsettled(values, { afterSeconds: wait / 1000 + 0.5 });
}

/** The options for a request whose body may have values of Secrets in these members. */
export const changeOptions = (
  context: ReconcileContext,
  { secretMembers }: { secretMembers: ReadonlySet<string> },
): RequestOptions => ({ ...requestOptions(context), secretMembers });

/** Seconds until the owner mark of the object may be sent for this remote; 0 if the service has not refused it. */
export const secondsUntilMark = ({ account, record, object, kind, owner }: ReconcileContext, id: string): number =>
  record.secondsUntilMark(object, id, ownerMark(owner), !account.operations.wasRefused(kind.resource, "update"));

/** Calendar time in epoch milliseconds. For times that Kubernetes or people set. */
export const epochMs = ({ clock }: ReconcileContext): number => clock.date().getTime();

/** The time by the clock of the service, in epoch milliseconds. For comparison with times that the service sets. */
export const serviceEpochMs = ({ account }: Pick<ReconcileContext, "account">): number => account.serviceTime.epochMs;

/** Spec fields that this object had set in the account before this reconcile sent anything. */
export const appliedOf = ({ state, object }: ReconcileContext): readonly string[] =>
  state.sentFields ?? object.status?.appliedFields ?? [];

/**
 * The Secret values that this object had set in the account before this reconcile. None for a remote that this
 * reconcile adopted or recovered, because its values are unknown.
 */
export const appliedSecretsOf = (context: Pick<ReconcileContext, "object" | "changes">): readonly SecretVersion[] =>
  has(context, "Recovered") || has(context, "Adopted") ? [] : appliedSecretsOfObject(context.object);
