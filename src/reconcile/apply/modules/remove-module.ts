import { isUnsupported } from "../../../gateway/errors.ts";
import type { Module, Remote } from "../../../gateway/resource.ts";
import { fromAnswer } from "../../../schema/wire/answer.ts";
import type { Body } from "../../../schema/wire/request.ts";
import { type ReconcileContext, remotesOf, requestOptions, updatableRemotesOf } from "../../context.ts";
import { ensureDeletable, type Permit } from "../../decide/may-delete.ts";
import { setsModules } from "../../features.ts";
import { modulesSetBy } from "../../find/module-origins.ts";

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

/** Whether an edit may remove modules. An object that sets none any more no longer holds the remote. */
export function permitRemoval(context: ReconcileContext, { id }: Remote): Promise<Permit> {
  const { kind, object } = context;
  const isHeld = !setsModules(kind) || modulesSetBy(kind, object).length > 0;
  return ensureDeletable(context, { id, way: isHeld ? "edited" : "released", fields: [] });
}
