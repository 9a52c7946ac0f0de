import type { ManagedObject } from "../../objects/object.ts";
import { isModuleRetained, leavesItsRemote } from "../../objects/origin.ts";
import { Outdated } from "../../objects/reconcile-error.ts";
import type { Kind } from "../../schema/define.ts";
import { withoutHidden } from "../../schema/wire/applied.ts";
import { needsOf } from "../../schema/wire/needs.ts";
import { fieldsReferringTo } from "../../schema/wire/uses.ts";
import type { ReconcileContext } from "../context.ts";
import { refuseUnreadableKind } from "../unreadable-kind.ts";

// Some kinds only set modules of remotes that other clients create, and no list shows such a remote. When an object of
// such a kind is deleted and its modules stay, nothing would show that the remote still uses an IP policy, for example.
// So the status of the policy's object records it.

/** Whether a module that refers to other remotes stays in the account when its object is deleted. */
export const leavesReferringModule = (kind: Kind, object: ManagedObject): boolean =>
  kind.location.type === "modules" &&
  appliedModulesOf(object).some((field) => isReferring(kind, field) && staysBehind(object, field));

const staysBehind = (object: ManagedObject, field: string): boolean =>
  leavesItsRemote(object) || isModuleRetained(object, field);

const isReferring = ({ spec }: Kind, field: string): boolean =>
  fieldsReferringTo(spec).some(([referring]) => referring === field);

const appliedModulesOf = ({ status }: ManagedObject): string[] => withoutHidden(status?.appliedFields ?? []);

/**
 * When modules of an object stay after its deletion, records it in the status of each object to which they refer.
 * `all`: all its modules stay. Reads no remote, because the account may be gone.
 */
export async function recordLeftModules(context: ReconcileContext, all: boolean): Promise<void> {
  const { kind, object, cluster } = context;
  const { id } = object.status ?? {};
  if (kind.location.type !== "modules" || id === undefined) return;
  const left = appliedModulesOf(object).filter((field) => all || staysBehind(object, field));
  for (const [targetKind, target] of targetsOf(context, left)) {
    const { leftOn = [] } = target.status ?? {};
    if (leftOn.includes(id)) continue;
    const status = { ...target.status, leftOn: [...leftOn, id] };
    if (!(await cluster.writeStatus(targetKind, target, status))) throw new Outdated("the object is gone");
  }
}

/** The objects to whose remotes these fields of the spec refer. */
function targetsOf({ kind, object, cluster }: ReconcileContext, fields: readonly string[]): [Kind, ManagedObject][] {
  const spec = Object.fromEntries(fields.map((field) => [field, object.spec[field]]));
  const found = needsOf(kind.spec, spec).flatMap((need) => {
    if (need.type !== "reference") return [];
    const { to, trait } = need;
    const kinds = cluster.kinds.filter((one) =>
      to.kind === undefined ? trait.kinds.includes(one.kind) : one.kind === to.kind,
    );
    const { namespace } = object.metadata;
    const where = to.name === undefined ? undefined : namespace;
    for (const one of kinds)
      refuseUnreadableKind(cluster, one.kind, "InUse", "a module that stays refers to one", where);
    return kinds.flatMap((one): [Kind, ManagedObject][] => {
      const named = to.name === undefined ? undefined : cluster.get(one.kind, namespace, to.name);
      const byID = to.id === undefined ? [] : cluster.othersWithRemoteID(one, to.id, object);
      return [...byID, ...(named ? [named] : [])].map((target) => [one, target]);
    });
  });
  return [
    ...new Map(found.map(([one, target]) => [target.metadata.uid, [one, target] as [Kind, ManagedObject]])).values(),
  ];
}
