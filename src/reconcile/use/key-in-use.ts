import { Waiting } from "../../objects/reconcile-error.ts";
import { ACCOUNT_KIND } from "../../schema/contract.ts";
import type { KeyUser } from "../cluster.ts";
import type { ReconcileContext } from "../context.ts";
import { refuseUnreadableKind } from "../unreadable-kind.ts";

// An object can stand for the API key with which the operator, or a GatewayAccount, sends its requests. If this key
// were deleted, nothing in the account could be changed or deleted any more.

const ASK_AGAIN_SECONDS = 10;

/** Thrown when requests are sent with the key that is to be deleted. */
export class KeyStillUsed extends Waiting {
  readonly users: string;

  constructor(users: string, id: string) {
    const message = `Give ${users} another key first, or delete it: it uses ${id}`;
    super("InUse", message, { afterSeconds: ASK_AGAIN_SECONDS });
    this.users = users;
  }
}

/** Throws Waiting while requests are sent with the key that is to be deleted. */
export async function refuseWhileKeyUsed(context: ReconcileContext, id: string): Promise<void> {
  const { object, cluster } = context;
  const { output } = context.kind;
  if (!output?.shownOnce) return;
  const secretName = object.status?.id === id ? object.status.outputSecret : undefined;
  if (secretName !== undefined) await noteStoredToken(context, id, { secretName, key: output.key });
  const users = cluster.usersOfKey(object, { digest: context.account.tokenDigestOf(id), secretName });
  if (users.length === 0)
    return refuseUnreadableKind(cluster, ACCOUNT_KIND, "InUse", `one of them may send its requests with ${id}`);
  const { namespace } = object.metadata;
  const isNamespaceGoing = await cluster.isNamespaceDeleting(namespace);
  const isBeingDeleted = (user: KeyUser) => user.isDeleting || (isNamespaceGoing && user.namespace === namespace);
  const staying = users.filter((user) => !isBeingDeleted(user));
  if (staying.length > 0) throw new KeyStillUsed(namesOf(staying), id);
  const message = `Waiting for ${namesOf(users)} to be deleted first: it sends its requests with this key`;
  throw new Waiting("Deleting", message, { afterSeconds: ASK_AGAIN_SECONDS });
}

/** Whether somebody still sends requests with a key that was replaced, or may do so. */
export const mayKeyBeUsed = ({ kind, object, cluster, account }: ReconcileContext, id: string): boolean =>
  kind.output?.shownOnce === true &&
  (cluster.visibilityOf(ACCOUNT_KIND) === "Unreadable" ||
    cluster.usersOfKey(object, { digest: account.tokenDigestOf(id) }).length > 0);

/** A process that has not seen the token yet reads it from its Secret. */
async function noteStoredToken(
  { object, cluster, account }: ReconcileContext,
  id: string,
  { secretName, key }: { secretName: string; key: string },
): Promise<void> {
  if (account.tokenDigestOf(id) !== undefined) return;
  const secret = await cluster.secret(object.metadata.namespace, secretName);
  const token = secret?.data[key];
  if (token) account.recordToken(id, token);
}

const namesOf = (users: readonly KeyUser[]): string => {
  const [first, ...others] = users.map(({ name }) => name).sort();
  return others.length > 0 ? `${first} and ${others.length} more` : `${first}`;
};
