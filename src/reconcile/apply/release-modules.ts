import { isUnsupported } from "../../gateway/errors.ts";
import type { Module, Remote } from "../../gateway/resource.ts";
import { identityOf } from "../../objects/identity.ts";
import { conditionOf, type ManagedObject } from "../../objects/object.ts";
import { Waiting } from "../../objects/reconcile-error.ts";
import { fromAnswer } from "../../schema/wire/answer.ts";
import { visible } from "../../schema/wire/applied.ts";
import type { Body } from "../../schema/wire/request.ts";
import { getRemote, type ReconcileContext, remotesOf, requestOptions } from "../context.ts";
import { appliedFields } from "../desired/desired.ts";
import { plan } from "../desired/plan.ts";

/**
 * Takes a part out of a remote by its own operation, and returns what is left. Where the service turns out not to have
 * the operation, the part is switched off instead, with its settings kept.
 */
export async function removeModule(context: ReconcileContext, member: string, remote: Remote): Promise<Remote> {
  const { kind, account } = context;
  const module = kind.modules[member];
  if (!module) throw new TypeError(`${kind.kind} declares no operation that removes ${member}`);
  if (account.supports(module, "delete") && (await tryRemove(context, member, module, remote))) {
    return { ...remote, [member]: null };
  }
  const seen = fromAnswer(kind.spec, remote)[member] as Body;
  if (seen["enabled"] === false) return remote;
  return remotesOf(context).update(remote.id, { [member]: { ...seen, enabled: false } }, requestOptions(context));
}

async function tryRemove(context: ReconcileContext, member: string, module: Module, { id }: Remote): Promise<boolean> {
  try {
    await remotesOf(context).removeModule(id, member, module, requestOptions(context));
  } catch (error) {
    if (!isUnsupported(error)) throw error;
    context.account.lacks(module, "delete");
    return false;
  }
  if (module.verbs.delete === "documented") return true;
  // a 404 can mean that it is not there, or that there is no such operation
  const remote = await remotesOf(context).find(id, requestOptions(context), true, [member]);
  const remaining = remote?.[member] ?? undefined;
  if (remaining !== undefined) context.account.lacks(module, "delete");
  return remaining === undefined;
}

/** Takes out of a remote that was made elsewhere what this object has put into it, and nothing else. */
export async function releaseModules(context: ReconcileContext): Promise<void> {
  const { kind, object, cluster, changes } = context;
  // without a status a reconcile was interrupted before it could say what it sent
  const applied = visible(object.status?.appliedFields ?? (object.status?.id ? [] : appliedFields(kind, object.spec)));
  const id = object.status?.id ?? identityOf(kind, object, cluster);
  if (id === undefined) return;
  const answered = isAnswered(object);
  let remote = await getRemote(context, id, !answered);
  if (!remote) return;
  const { body, remove } = plan(kind, { wanted: {}, seen: fromAnswer(kind.spec, remote), applied, renewed: [] });
  if (Object.keys(body).length > 0) remote = await remotesOf(context).update(id, body, requestOptions(context));
  for (const member of remove) remote = await removeModule(context, member, remote);
  if (remove.length > 0) changes.push({ type: "Deleted", id });
  if (!answered) waitForInterruptedChanges(context);
}

/** Whatever was sent before the deletion was answered, and told; that it began is a generation of its own. */
function isAnswered({ metadata, status }: ManagedObject): boolean {
  const synced = conditionOf(status, "Synced");
  return synced?.reason !== "ServiceUnavailable" && (synced?.observedGeneration ?? -1) >= metadata.generation - 1;
}

/** A module that is set once the object is gone would stay for ever. */
function waitForInterruptedChanges({ account }: ReconcileContext): void {
  const seconds = account.pendingSeconds;
  if (seconds === 0) return;
  throw new Waiting("Deleting", "Waiting until it is certain that no interrupted change arrives any more", {
    afterSeconds: seconds + 0.5,
  });
}
