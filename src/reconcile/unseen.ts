import { userUnread } from "../objects/errors/deletion.ts";
import { holderUnread } from "../objects/errors/ownership.ts";
import { referenceUnread } from "../objects/errors/spec.ts";
import { isMarkOf, ownerMarkOf } from "../objects/ownership.ts";
import type { Waiting } from "../objects/reconcile-error.ts";
import { ACCOUNT_KIND } from "../schema/contract.ts";
import type { Kind } from "../schema/define.ts";
import type { Cluster } from "./cluster.ts";
import type { ReconcileContext } from "./context.ts";
import { isEntryKind } from "./features.ts";

// What cannot be read counts as unknown: an object there may have a remote, or use it. These are the two questions.

/** Seconds until the next attempt. Usually a waiting object is triggered earlier, when its kind becomes readable. */
const AGAIN_SECONDS = 300;

const unreadFor = {
  InUse: userUnread,
  ReferenceNotReady: referenceUnread,
  OwnershipConflict: holderUnread,
} as const;

type Reason = keyof typeof unreadFor;

/** Whether objects that cannot be read forbid what is to be done. */
export const isOfUnread = (error: unknown): boolean =>
  Object.values(unreadFor).some((declared) => declared.valuesOf(error) !== undefined);

type Seen = Pick<Cluster, "reading">;

/**
 * An object that cannot be read may have the remote: one of its kind or, for an entry, one whose spec lists it. What
 * bears the owner mark of this object is its own. `kind`: of the remote.
 */
export function unseenHolder(
  context: ReconcileContext,
  id: string,
  reason: Reason,
  kind: Kind = context.kind,
): Waiting | undefined {
  const { cluster, owner, account } = context;
  if (isMarkOf(ownerMarkOf(account.remotes(kind).cached(id) ?? {}), owner)) return undefined;
  // Of the object that has the list, no other object may have it.
  const parent = isEntryKind(kind) ? kind.location.parent.kind : context.kind.kind;
  const holders = parent === context.kind.kind ? [kind.kind] : [parent, kind.kind];
  return firstUnseen(cluster, holders, reason, `one of them may have ${id}`);
}

/** An object that cannot be read may use the remote: its kind can refer to it, or it may send its requests with the key. */
export function unseenUser({ cluster, kind }: ReconcileContext, id: string): Waiting | undefined {
  const users = cluster.kindsReferringTo(kind).map((one) => one.kind);
  const user = firstUnseen(cluster, users, "InUse", `they may use this ${kind.kind}`);
  if (user || !kind.output?.shownOnce) return user;
  return firstUnseen(cluster, [ACCOUNT_KIND], "InUse", `one of them may send its requests with ${id}`);
}

function firstUnseen(cluster: Seen, kinds: readonly string[], reason: Reason, why: string): Waiting | undefined {
  const unseen = kinds.find((kind) => isUnseen(cluster, kind));
  return unseen === undefined ? undefined : unreadable(cluster, unseen, reason, why);
}

/** Whether there may be objects of the kind that cannot be read. `namespace`: there. Default: anywhere. */
export const isUnseen = (cluster: Seen, kind: string, namespace?: string): boolean =>
  cluster.reading.visibilityOf(kind, namespace) === "Unreadable";

/** Throws Waiting while what is named may be among the objects that cannot be read. `why`: the end of the message. */
export function refuseUnseen(cluster: Seen, kind: string, reason: Reason, why: string, namespace?: string): void {
  if (isUnseen(cluster, kind, namespace)) throw unreadable(cluster, kind, reason, why, namespace);
}

function unreadable(cluster: Seen, kind: string, reason: Reason, why: string, namespace?: string): Waiting {
  const unread = cluster.reading.unreadNamespaces(kind);
  const namespaces = namespace !== undefined && unread.includes(namespace) ? [namespace] : unread;
  return unreadFor[reason]({ kind, namespaces, why }, { afterSeconds: AGAIN_SECONDS });
}
