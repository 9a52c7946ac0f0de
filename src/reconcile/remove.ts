import { type GatewayError, isGatewayError, isUnsupported } from "../gateway/errors.ts";
import { annotations, FINALIZER } from "../kinds/contract.ts";
import { Blocked, Waiting } from "./fate.ts";
import { refuseForeign } from "./find.ts";
import { isMadeElsewhere } from "./identity.ts";
import { intentOf } from "./intent.ts";
import { locate } from "./locate.ts";
import { isDeleting, isObserveOnly, isOrphan, isRetained, type ManagedObject } from "./object.ts";
import { clear } from "./parts.ts";
import { now, type Pass, remotesOf, sending } from "./pass.ts";
import { removeSurely } from "./removal.ts";
import { staysForOthers } from "./sharing.ts";

/** How long a remote waits for the referrers that are being deleted as well to go before it. */
const REFERRERS_FIRST_MS = 60_000;

/** How soon an object is looked at that only others hold; a change of it tells before. */
const OTHERS_SECONDS = 1800;

/**
 * Ends an object: its remote goes first, then the finalizer. Needs the id and nothing else of the spec.
 * Returns when the finalizer is gone; throws Waiting while something has to go before it.
 */
export async function remove(pass: Pass): Promise<void> {
  const { object, cluster, kind } = pass;
  if (!object.metadata.finalizers?.includes(FINALIZER)) return waitForOthers(object);
  if (!(await isKept(pass))) await removeRemote(pass);
  await cluster.removeFinalizer(kind, pass.object);
}

/** The garbage collector's own, which nobody has to do anything about. */
const COLLECTED: readonly string[] = ["foregroundDeletion", "orphan"];

/** Nothing is left to do here, but others have finalizers of their own on the object. */
function waitForOthers({ metadata: { finalizers = [] } }: ManagedObject): void {
  const others = finalizers.filter((name) => !COLLECTED.includes(name));
  if (others.length === 0) return;
  throw new Waiting(
    "Deleting",
    `See to ${others.join(", ")}: finalizers of others hold this object, and nothing else`,
    {
      afterSeconds: OTHERS_SECONDS,
    },
  );
}

/** Deleting a CRD deletes its objects without asking, so it must never delete what people have in their account. */
const isKept = async ({ object, cluster, kind }: Pass): Promise<boolean> =>
  isOrphan(object) || isRetained(object) || isObserveOnly(object) || (await cluster.isKindGoing(kind));

async function removeRemote(pass: Pass): Promise<void> {
  if (isMadeElsewhere(pass.kind)) return clear(pass);
  const id = await idOf(pass);
  const retiring = pass.findings.retiring ?? pass.object.status?.retiring;
  const ids = [id, retiring].filter((one) => one !== undefined);
  if (ids.length === 0) return;
  waitForReferrers(pass);
  if (id !== undefined) pass.findings.remote ??= { id };
  for (const one of ids.filter((each) => !staysForOthers(pass, each))) {
    if (await removeOne(pass, one)) pass.findings.deleted = one;
    else await leave(pass, one);
  }
}

/** False when the service has no such operation. */
async function removeOne(pass: Pass, id: string): Promise<boolean> {
  const { account, kind } = pass;
  const remotes = remotesOf(pass);
  if (!account.supports(kind.remote, "delete")) return false;
  waitForTurn(pass, id);
  try {
    if (await removeSurely(pass, id)) return true;
  } catch (error) {
    if (!isGatewayError(error)) throw error;
    if (!isUnsupported(error)) throw inUse(pass, error) ?? error;
    account.lacks(kind.remote, "delete");
    return false;
  }
  // where the page does not show the operation, a 404 can mean that there is none
  const there = kind.remote.verbs.delete === "unshown" && (await remotes.find(id, sending(pass), true)) !== undefined;
  if (there) account.lacks(kind.remote, "delete");
  return !there;
}

function waitForTurn({ account: { deletions } }: Pass, id: string): void {
  const seconds = deletions.wait(id);
  if (seconds === 0) return;
  const message = `Waiting for its turn: at most ${deletions.perMinute} are deleted in a minute (MAX_DELETES_PER_MINUTE)`;
  throw new Waiting("Deleting", message, { afterSeconds: seconds });
}

/** What cannot be deleted keeps its object, unless that would keep a whole namespace from going away. */
async function leave({ kind, object, cluster }: Pass, id: string): Promise<void> {
  const { namespace } = object.metadata;
  const message = `Delete ${id} by hand, then set the annotation ${annotations.orphan}: "true": the service cannot delete a ${kind.remote.title}`;
  if (!(await cluster.isNamespaceGoing(namespace))) throw new Blocked("DeleteUnsupported", message);
  const note = `Left ${id} in the account: the service cannot delete a ${kind.remote.title}, and the namespace goes away`;
  cluster.emit(object, { type: "Warning", reason: "DeleteUnsupported", action: "Delete", note });
}

/** The id that was written down, or that of a remote whose create was interrupted. */
async function idOf(pass: Pass): Promise<string | undefined> {
  const { object } = pass;
  const intent = intentOf(object);
  const id = object.status?.id;
  if (id === undefined || id === intent?.old) return intent ? (await locate(pass))?.id : undefined;
  const row = remotesOf(pass).known(id);
  // what another object or cluster has marked meanwhile is not ours to delete
  if (row) refuseForeign(pass, row);
  return id;
}

/** What others still use is not deleted under them: without its policy an edge would admit everybody, or nobody. */
function waitForReferrers(pass: Pass): void {
  const { cluster, kind, object } = pass;
  const referrers = cluster.referrersOf(kind, object).map((referrer) => referrer.object);
  const staying = referrers.filter((referrer) => !isDeleting(referrer));
  if (staying.length > 0) {
    throw new Waiting("InUse", `Delete or change ${listed(staying)} first: it refers to this ${kind.kind}`, {
      afterSeconds: 300,
    });
  }
  const since = Date.parse(object.metadata.deletionTimestamp ?? "");
  if (referrers.length === 0 || now(pass) - since > REFERRERS_FIRST_MS) return;
  throw new Waiting(
    "Deleting",
    `Waiting for ${listed(referrers)}, which refers to this ${kind.kind}, to be deleted first`,
    {
      afterSeconds: 5,
    },
  );
}

/** Services answer 400 as well as 409 for what is in use, so any such refusal of a delete is taken for it. */
function inUse({ kind }: Pass, error: GatewayError): Waiting | undefined {
  if (error.status !== 400 && error.status !== 409 && error.status !== 422) return undefined;
  const words = error.serviceMessage ?? "it is still in use";
  return new Waiting("InUse", `Remove what still uses this ${kind.remote.title} in the account: ${words}`, {
    cause: error,
  });
}

function listed(objects: readonly ManagedObject[]): string {
  const names = objects.map(({ kind, metadata }) => `${kind} "${metadata.name}"`).sort();
  return names.length > 3 ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} more` : names.join(", ");
}
