import type { Remote } from "../../../gateway/resource.ts";
import { isModuleRetained } from "../../../objects/origin.ts";
import { fromAnswer } from "../../../schema/wire/answer.ts";
import { membersOf } from "../../../schema/wire/compare.ts";
import { getRemote, msUntilSettled, readRemote, requestOptions, updatableRemotesOf } from "../../context.ts";
import { hasForeignMark } from "../../decide/conflicts.ts";
import { ensureDeletable } from "../../decide/may-delete.ts";
import { type Plan, plan } from "../../desired/plan.ts";
import type { ModulesContext } from "../../features.ts";
import { modulesSetBy } from "../../find/module-origins.ts";
import {
  idOf,
  isAnswered,
  modulesWantedByOthers,
  recordLeftModules,
  referringModulesOf,
  refuseWhileChangesUnsettled,
  sentModulesOf,
} from "../../use/left-modules.ts";
import { removeModule } from "./remove-module.ts";

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
export async function releaseModules(context: ModulesContext): Promise<Released> {
  const { kind, object, changes } = context;
  const applied = sentModulesOf(kind, object);
  const id = idOf(context);
  if (id === undefined || hasForeignMark(context, { id })) return { left: applied, seen: undefined };
  const answered = isAnswered(context);
  // Measured before the read, which does not show a change that arrives later.
  const waitMs = answered ? 0 : msUntilSettled(context);
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
  refuseWhileChangesUnsettled(waitMs);
  return { left: applied.filter((field) => !released.includes(field)), seen };
}

/**
 * The plan of an update, without removing modules that the object no longer sets and another object wants. While the
 * object sets any module it holds the remote, so the other object has to wait, and the modules are removed.
 */
export function withoutHandedOverModules(context: ModulesContext, planned: Plan, id: string): Plan {
  const { kind, object } = context;
  if (planned.remove.length === 0 || modulesSetBy(kind, object).length > 0) return planned;
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
export async function recordHandedOverModules(context: ModulesContext, found: Remote): Promise<void> {
  const { kind, object } = context;
  if (modulesSetBy(kind, object).length > 0) return;
  const sent = referringModulesOf(kind, object);
  if (sent.length === 0) return;
  const wanted = modulesWantedByOthers(context, found.id);
  const left = sent.filter((field) => wanted.includes(field));
  await recordLeftModules(context, left, found);
}

/** A module that this object has created counts as created by the object that sets it next. */
function leaveModulesToOthers({ object, memory }: ModulesContext, id: string, wanted: readonly string[]): void {
  memory.leaveModules(
    id,
    wanted.filter((field) => object.status?.moduleOrigins?.[field] === "Created"),
  );
}
