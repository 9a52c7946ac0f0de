import { keyUsed, keyUsersGoing } from "../../objects/errors/deletion.ts";
import type { Waiting } from "../../objects/reconcile-error.ts";
import { secretAnnotations } from "../../schema/contract.ts";
import type { KeyUser, KnownKey } from "../cluster.ts";
import { type ReconcileContext, readRemote } from "../context.ts";
import type { OutputContext } from "../features.ts";
import { usableRecordOf } from "./token-records.ts";

// An object can stand for the API key with which the operator, or a GatewayAccount, sends its requests. If this key
// were deleted, nothing in the account could be changed or deleted any more.

const ASK_AGAIN_SECONDS = 10;

/** Costs a request to the service. */
const LOOK_AGAIN_SECONDS = 300;

/** Why an API key has to stay: requests are sent with it, or nobody knows whether they are. */
export async function refusalOfKeyUsers(context: OutputContext, id: string): Promise<Waiting | undefined> {
  const { object, cluster } = context;
  const { output } = context.kind;
  if (!output.shownOnce) return undefined;
  const secretName = object.status?.id === id ? object.status.outputSecret : undefined;
  if (secretName !== undefined) await noteStoredToken(context, id, { secretName, key: output.key });
  const known = knownOf(context, id);
  const users = cluster.accounts.usersOfKey(object, { ...known, secretName });
  // A person who has read the message below may have deleted the key in the account.
  if (users.length === 0 || (isUnknown(known) && !(await readRemote(context, id)))) return undefined;
  const { namespace } = object.metadata;
  const isNamespaceGoing = await cluster.reading.isNamespaceDeleting(namespace);
  const isBeingDeleted = (user: KeyUser) => user.isDeleting || (isNamespaceGoing && user.namespace === namespace);
  const staying = users.filter((user) => !isBeingDeleted(user));
  if (staying.length === 0) return keyUsersGoing({ users: namesOf(users) }, { afterSeconds: ASK_AGAIN_SECONDS });
  const used = { users: namesOf(staying), id, isUnknown: isUnknown(known) };
  return keyUsed(used, { afterSeconds: used.isUnknown ? LOOK_AGAIN_SECONDS : ASK_AGAIN_SECONDS });
}

/** What this process has seen counts most, since a person may have changed the Secret. */
const knownOf = (context: ReconcileContext, id: string): KnownKey => ({
  digest: context.memory.tokenDigestOf(id),
  record: usableRecordOf(context, id),
});

const isUnknown = ({ digest, record }: KnownKey): boolean => digest === undefined && record === undefined;

/** A process that has not seen the token yet reads it from its Secret. */
async function noteStoredToken(
  context: ReconcileContext,
  id: string,
  { secretName, key }: { secretName: string; key: string },
): Promise<void> {
  const { object, cluster, memory } = context;
  if (!isUnknown(knownOf(context, id))) return;
  const secret = await cluster.secrets.read(object.metadata.namespace, secretName);
  const token = secret?.annotations[secretAnnotations.remoteID] === id ? secret.data[key] : undefined;
  if (token) memory.recordToken(id, token);
}

const namesOf = (users: readonly KeyUser[]): string => {
  const [first, ...others] = users.map(({ name }) => name).sort();
  return others.length > 0 ? `${first} and ${others.length} more` : `${first}`;
};
