import { isUnsupported } from "../../gateway/errors.ts";
import type { Module, Remote } from "../../gateway/resource.ts";
import { isModuleRetained } from "../../objects/origin.ts";
import { fromAnswer } from "../../schema/wire/answer.ts";
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
import { hasForeignMark } from "../decide/conflicts.ts";
import { ensureDeletable, type Permit } from "../decide/may-delete.ts";
import { type Plan, plan } from "../desired/plan.ts";
import { modulesSetBy } from "../find/module-origins.ts";
import {
  idOf,
  isAnswered,
  recordLeftModules,
  referringModulesOf,
  sentModulesOf,
  waitForInterruptedChanges,
} from "../use/left-modules.ts";
import { modulesWantedByOthers } from "../use/sharing.ts";

/**
 * Removes a module from a remote by the module's own operation, and returns the remote without it. When the service
 * lacks the operation, disables the module instead and keeps its settings.
 */
export async function removeModule(
  context: ReconcileContext,
  permit: Permit,
  member: string,
  remote: Remote,
): Promise<Remote> {
  const { kind, account } = context;
  const module = kind.modules[member];
  if (!module) throw new TypeError(`${kind.kind} declares no operation that removes ${member}`);
  if (account.operations.mayTry(module, "delete") && (await tryRemove(context, permit, member, module))) {
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

async function tryRemove(context: ReconcileContext, permit: Permit, member: string, module: Module): Promise<boolean> {
  const { account } = context;
  account.operations.tried(module, "delete");
  const removed = await isRemoved(context, permit, member, module);
  if (removed) account.operations.accepted(module, "delete");
  else account.operations.refused(module, "delete");
  return removed;
}

/** Sends the DELETE of a module. Returns false when the service has no such operation. */
async function isRemoved(context: ReconcileContext, permit: Permit, member: string, module: Module): Promise<boolean> {
  const sending = updatableRemotesOf(context).deleteModule(permit.id, member, module, permit.request);
  const answer = await sending.catch((error: unknown) => {
    if (!isUnsupported(error)) throw error;
    return "unsupported";
  });
  if (answer === "unsupported") return false;
  // A 404 can mean that the module is not set, or that the service has no such operation. If the module is set after a
  // successful DELETE, another client has set it since, for example by a late request of a former process.
  return answer === true || module.verbs.delete === "documented" || !(await isStillSet(context, member, permit.id));
}

async function isStillSet(context: ReconcileContext, member: string, id: string): Promise<boolean> {
  const remote = await remotesOf(context).read(id, requestOptions(context), [member]);
  return (remote?.[member] ?? undefined) !== undefined;
}

interface Released {
  /** Fields of modules that this object has set and that stay. */
  left: readonly string[];
  /** The remote before the others were removed. Undefined: it was not read. */
  seen: Remote | undefined;
}

/**
 * Removes the modules that this object has set from a remote that the operator does not create, and no other modules. A
 * module that was there before stays, unless the spec says otherwise.
 */
export async function releaseModules(context: ReconcileContext): Promise<Released> {
  const { kind, object, changes } = context;
  const applied = sentModulesOf(kind, object);
  const id = idOf(context);
  if (id === undefined || hasForeignMark(context, { id })) return { left: applied, seen: undefined };
  const answered = isAnswered(object);
  const seen = await (answered ? getRemote : readRemote)(context, id);
  if (!seen) return { left: [], seen };
  let remote = seen;
  const wanted = modulesWantedByOthers(context, id);
  const own = applied.filter((field) => !isModuleRetained(object, field));
  const released = own.filter((field) => !wanted.includes(field));
  const permit = await ensureDeletable(context, { id, way: "released", fields: released });
  leaveModulesToOthers(context, id, wanted);
  const { body, remove } = plan(kind, {
    wanted: {},
    seen: fromAnswer(kind.spec, remote),
    applied: released,
    renewed: [],
  });
  // One request for each module that can only be disabled.
  remote = await updatableRemotesOf(context).update(id, body, requestOptions(context));
  for (const member of remove) remote = await removeModule(context, permit, member, remote);
  if (remove.length > 0) changes.push({ type: "Deleted", id });
  if (!answered) waitForInterruptedChanges(context);
  return { left: applied.filter((field) => !released.includes(field)), seen };
}

/**
 * The plan of an update, without removing modules that the object no longer sets and another object wants. While the
 * object sets any module it holds the remote, so the other object has to wait, and the modules are removed.
 */
export function withoutHandedOverModules(context: ReconcileContext, planned: Plan, id: string): Plan {
  const { kind, object } = context;
  if (kind.location.type !== "modules" || planned.remove.length === 0) return planned;
  if (modulesSetBy(kind, object).length > 0) return planned;
  const wanted = modulesWantedByOthers(context, id);
  leaveModulesToOthers(context, id, wanted);
  const fieldsOf = (member: string) => membersOf(kind.spec).get(member)?.fields ?? [];
  return {
    ...planned,
    remove: planned.remove.filter((member) => !fieldsOf(member).some((field) => wanted.includes(field))),
    fields: planned.fields.filter((field) => !wanted.includes(field)),
  };
}

/**
 * Call it before the object forgets that it has set modules that `withoutHandedOverModules` leaves to others. Those may
 * go without having set them.
 */
export async function recordHandedOverModules(context: ReconcileContext, found: Remote): Promise<void> {
  const { kind, object } = context;
  if (kind.location.type !== "modules" || modulesSetBy(kind, object).length > 0) return;
  const sent = referringModulesOf(kind, object);
  if (sent.length === 0) return;
  const wanted = modulesWantedByOthers(context, found.id);
  const left = sent.filter((field) => wanted.includes(field));
  await recordLeftModules(context, left, found);
}

/** A module that this object has created counts as created by the object that sets it next. */
function leaveModulesToOthers({ object, memory }: ReconcileContext, id: string, wanted: readonly string[]): void {
  memory.leaveModules(
    id,
    wanted.filter((field) => object.status?.moduleOrigins?.[field] === "Created"),
  );
}

/** Whether an edit may remove modules. An object that sets none any more no longer holds the remote. */
export function permitRemoval(context: ReconcileContext, { id }: Remote): Promise<Permit> {
  const { kind, object } = context;
  const isHeld = kind.location.type !== "modules" || modulesSetBy(kind, object).length > 0;
  return ensureDeletable(context, { id, way: isHeld ? "edited" : "released", fields: [] });
}
