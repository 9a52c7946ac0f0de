import { isUnsupported } from "../../gateway/errors.ts";
import type { Module, Remote } from "../../gateway/resource.ts";
import { idFromSpec } from "../../objects/identity.ts";
import { conditionOf, isDeleting, isObserveOnly, type ManagedObject } from "../../objects/object.ts";
import { Waiting } from "../../objects/reconcile-error.ts";
import { fromAnswer } from "../../schema/wire/answer.ts";
import { withoutHidden } from "../../schema/wire/applied.ts";
import type { Body } from "../../schema/wire/request.ts";
import {
  getRemote,
  type ReconcileContext,
  readRemote,
  remotesOf,
  requestOptions,
  updatableRemotesOf,
} from "../context.ts";
import { appliedFields } from "../desired/desired.ts";
import { plan } from "../desired/plan.ts";

/**
 * Removes a module from a remote by the module's own operation, and returns the remote without it. When the service
 * lacks the operation, disables the module instead and keeps its settings.
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
  return updatableRemotesOf(context).update(
    remote.id,
    { [member]: { ...seen, enabled: false } },
    requestOptions(context),
  );
}

async function tryRemove(context: ReconcileContext, member: string, module: Module, { id }: Remote): Promise<boolean> {
  const { account } = context;
  try {
    account.operationTried(module, "delete");
    await updatableRemotesOf(context).deleteModule(id, member, module, requestOptions(context));
  } catch (error) {
    if (!isUnsupported(error)) throw error;
    account.operationRefused(module, "delete");
    return false;
  }
  if (module.verbs.delete === "undocumented" && (await isStillSet(context, member, id))) {
    account.operationRefused(module, "delete");
    return false;
  }
  account.operationAccepted(module, "delete");
  return true;
}

/** A 404 can mean that the module is not there, or that the service has no such operation. */
async function isStillSet(context: ReconcileContext, member: string, id: string): Promise<boolean> {
  const remote = await remotesOf(context).read(id, requestOptions(context), [member]);
  return (remote?.[member] ?? undefined) !== undefined;
}

/** Removes from a remote that the operator does not create the modules that this object has set, and no others. */
export async function releaseModules(context: ReconcileContext): Promise<void> {
  const { kind, object, cluster, changes } = context;
  // Without an id in the status, a reconcile was interrupted before it could record what it sent: count the whole spec.
  const applied = withoutHidden(
    object.status?.appliedFields ?? (object.status?.id ? [] : appliedFields(kind, object.spec)),
  );
  const id = object.status?.id ?? idFromSpec(kind, object, cluster);
  if (id === undefined) return;
  const answered = isAnswered(object);
  let remote = await (answered ? getRemote : readRemote)(context, id);
  if (!remote) return;
  const staying = wantedByOthers(context, id);
  const released = applied.filter((field) => !staying.includes(field.split(".")[0] ?? field));
  const { body, remove } = plan(kind, {
    wanted: {},
    seen: fromAnswer(kind.spec, remote),
    applied: released,
    renewed: [],
  });
  if (Object.keys(body).length > 0)
    remote = await updatableRemotesOf(context).update(id, body, requestOptions(context));
  for (const member of remove) remote = await removeModule(context, member, remote);
  if (remove.length > 0) changes.push({ type: "Deleted", id });
  if (!answered) waitForInterruptedChanges(context);
}

/**
 * Fields that other objects of the same remote set. Their modules stay as they are until the next object sets them:
 * without its sign-on, for example, the route would be open to everybody in between.
 */
function wantedByOthers({ kind, object, cluster }: ReconcileContext, id: string): string[] {
  const others = cluster.othersWithRemoteID(kind, id, object);
  const next = others.filter((other) => !isDeleting(other) && !isObserveOnly(other));
  return next.flatMap(({ spec }) => Object.keys(spec));
}

/**
 * Whether every request before the deletion was answered, and its outcome is in the status. The deletion itself raises
 * the generation by one.
 */
function isAnswered({ metadata, status }: ManagedObject): boolean {
  const synced = conditionOf(status, "Synced");
  return synced?.reason !== "ServiceUnavailable" && (synced?.observedGeneration ?? -1) >= metadata.generation - 1;
}

/** An interrupted change that arrives after the object is gone would set a module that nobody removes. */
function waitForInterruptedChanges({ account }: ReconcileContext): void {
  const seconds = account.unansweredChangeSeconds;
  if (seconds === 0) return;
  throw new Waiting("Deleting", "Waiting until it is certain that no interrupted change arrives any more", {
    afterSeconds: seconds + 0.5,
  });
}
