import { isUnsupported } from "../../gateway/errors.ts";
import type { Module, Remote } from "../../gateway/resource.ts";
import { idFromSpec } from "../../objects/identity.ts";
import { conditionOf, isDeleting, isObserveOnly, type ManagedObject } from "../../objects/object.ts";
import { isModuleRetained } from "../../objects/origin.ts";
import { Waiting } from "../../objects/reconcile-error.ts";
import { fromAnswer } from "../../schema/wire/answer.ts";
import { withoutHidden } from "../../schema/wire/applied.ts";
import { membersOf } from "../../schema/wire/compare.ts";
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
import { type Plan, plan } from "../desired/plan.ts";
import { hasForeignMark } from "../find/conflicts.ts";
import { modulesSetBy } from "../find/module-origins.ts";

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

async function tryRemove(context: ReconcileContext, member: string, module: Module, remote: Remote): Promise<boolean> {
  const { account } = context;
  account.operationTried(module, "delete");
  const removed = await isRemoved(context, member, module, remote);
  if (removed) account.operationAccepted(module, "delete");
  else account.operationRefused(module, "delete");
  return removed;
}

/** Sends the DELETE. False: the service has no such operation. */
async function isRemoved(context: ReconcileContext, member: string, module: Module, { id }: Remote): Promise<boolean> {
  const sending = updatableRemotesOf(context).deleteModule(id, member, module, requestOptions(context));
  const answer = await sending.catch((error: unknown) => {
    if (!isUnsupported(error)) throw error;
    return "unsupported";
  });
  if (answer === "unsupported") return false;
  // A 404 can mean that the module is not there, or that the service has no such operation. After success, a module that
  // is there was set by somebody else since, such as a request of a former process that arrived late.
  return answer === true || module.verbs.delete === "documented" || !(await isStillSet(context, member, id));
}

async function isStillSet(context: ReconcileContext, member: string, id: string): Promise<boolean> {
  const remote = await remotesOf(context).read(id, requestOptions(context), [member]);
  return (remote?.[member] ?? undefined) !== undefined;
}

/**
 * Removes from a remote that the operator does not create the modules that this object has set, and no others. One that
 * was there before stays, unless the spec says that it goes.
 */
export async function releaseModules(context: ReconcileContext): Promise<void> {
  const { kind, object, cluster, changes } = context;
  // Without an id in the status, a reconcile was interrupted before it could record what it sent: count the whole spec.
  const applied = withoutHidden(
    object.status?.appliedFields ?? (object.status?.id ? [] : appliedFields(kind, object.spec)),
  );
  const id = object.status?.id ?? idFromSpec(kind, object, cluster);
  if (id === undefined || hasForeignMark(context, { id })) return;
  const answered = isAnswered(object);
  let remote = await (answered ? getRemote : readRemote)(context, id);
  if (!remote) return;
  const wanted = wantedByOthers(context, id);
  const own = applied.filter((field) => !isModuleRetained(object, field));
  const released = own.filter((field) => !wanted.includes(field));
  leaveModulesToOthers(context, id, wanted);
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
 * The plan of an update without the modules that the object no longer sets and leaves to another one. An object that
 * still sets a module stays the holder, so the other one has to wait, and gets nothing.
 */
export function withoutHandedOverModules(context: ReconcileContext, planned: Plan, id: string): Plan {
  const { kind, object } = context;
  if (kind.location.type !== "modules" || planned.remove.length === 0) return planned;
  if (modulesSetBy(kind, object).length > 0) return planned;
  const wanted = wantedByOthers(context, id);
  leaveModulesToOthers(context, id, wanted);
  const fieldsOf = (member: string) => membersOf(kind.spec).get(member)?.fields ?? [];
  return {
    ...planned,
    remove: planned.remove.filter((member) => !fieldsOf(member).some((field) => wanted.includes(field))),
    fields: planned.fields.filter((field) => !wanted.includes(field)),
  };
}

/** What this object has set first counts as created by the next one. */
function leaveModulesToOthers({ object, account }: ReconcileContext, id: string, wanted: readonly string[]): void {
  account.leaveModules(
    id,
    wanted.filter((field) => object.status?.moduleOrigins?.[field] === "Created"),
  );
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
