import type { Remote } from "../../gateway/resource.ts";
import { changesUnsettled } from "../../objects/errors/deletion.ts";
import { idFromSpec } from "../../objects/identity.ts";
import { reconcileErrorOf } from "../../objects/map-error.ts";
import { conditionOf, isAsking, isObserver, type ManagedObject } from "../../objects/object.ts";
import { isModuleRetained, leavesItsRemote } from "../../objects/origin.ts";
import { Outdated } from "../../objects/reconcile-error.ts";
import type { Kind } from "../../schema/define.ts";
import { withoutHidden } from "../../schema/wire/applied.ts";
import { sentAs } from "../../schema/wire/names.ts";
import { needsOf } from "../../schema/wire/needs.ts";
import { fieldsReferringTo, referencedValues } from "../../schema/wire/uses.ts";
import { msUntilSettled, type ReconcileContext, refuseUnsettled, remotesOf, requestOptions } from "../context.ts";
import { appliedFields } from "../desired/desired.ts";
import type { ModulesContext } from "../features.ts";
import { refuseUnseen } from "../unseen.ts";

// Some kinds only set modules of remotes that other clients create, and no list shows such a remote. When an object of
// such a kind is deleted and its modules stay, nothing would show that the remote still uses an IP policy, for example.
// So the status of the policy's object records it.

/** Whether a module that refers to other remotes stays in the account when its object is deleted. */
export const leavesReferringModule = (kind: ModulesContext["kind"], object: ManagedObject): boolean =>
  referringModulesOf(kind, object).some((field) => staysBehind(object, field));

const staysBehind = (object: ManagedObject, field: string): boolean =>
  leavesItsRemote(object) || isModuleRetained(object, field);

/**
 * Fields of the modules that this object has set, or may have set. Without an id in the status, a reconcile was
 * interrupted before it could record what it sent. So the whole spec counts as sent.
 */
export const sentModulesOf = (kind: Kind, { status, spec }: ManagedObject): string[] =>
  withoutHidden(status?.appliedFields ?? (status?.id === undefined ? appliedFields(kind, spec) : []));

/** Those of them that refer to other remotes. */
export const referringModulesOf = (kind: Kind, object: ManagedObject): string[] => {
  const referring = fieldsReferringTo(kind.spec).map(([field]) => field);
  return sentModulesOf(kind, object).filter((field) => referring.includes(field));
};

/**
 * Fields that other objects set on the same remote. Their modules stay until the next object sets them. Otherwise the
 * route would be open to everybody in between, for example without its sign-on.
 */
export function modulesWantedByOthers({ kind, object, cluster }: ModulesContext, id: string): string[] {
  const others = cluster.othersWithRemoteID(kind, id, object);
  return others.filter(isAsking).flatMap(({ spec }) => Object.keys(spec));
}

/** For an object whose modules all stay. Does not fail when the account is gone. */
export async function recordAllModulesLeft(context: ModulesContext): Promise<void> {
  const { kind, object, cluster, record } = context;
  const left = referringModulesOf(kind, object);
  if (left.length === 0) return;
  if (isCarriedOut(object) && !record.hasLateUpdate()) return recordLeftModules(context, left, undefined);
  if (!isAnswered(context) && !cluster.accounts.isAccountOrphaned(object))
    refuseWhileChangesUnsettled(msUntilSettled(context));
  await recordLeftModules(context, left, await readModules(context, left));
}

/**
 * Whether every request before the deletion was answered and its outcome is in the status. The deletion itself raises
 * the generation by one. What was sent again since, with success, may come once more.
 */
export const isAnswered = ({ object, record }: ReconcileContext): boolean =>
  !record.hasLateUpdate() &&
  conditionOf(object.status, "Synced")?.reason !== "ServiceUnavailable" &&
  isLastEditTried(object);

/** An interrupted change may arrive after the object is gone, and would then set a module that nobody knows of. */
export const refuseWhileChangesUnsettled = (waitMs: number): void => refuseUnsettled(waitMs, changesUnsettled, {});

const isLastEditTried = ({ metadata, status }: ManagedObject): boolean =>
  (conditionOf(status, "Synced")?.observedGeneration ?? -1) >= metadata.generation - 1;

/** Whether the account has what the spec says. */
const isCarriedOut = (object: ManagedObject): boolean =>
  isLastEditTried(object) &&
  conditionOf(object.status, "Synced")?.status === "True" &&
  object.status?.drift === undefined;

/** `Unknown` when the service does not tell. */
async function readModules(context: ReconcileContext, fields: readonly string[]): Promise<Remote | "Unknown"> {
  const { kind, object, cluster } = context;
  if (cluster.accounts.isAccountOrphaned(object)) return "Unknown";
  const members = fieldsReferringTo(kind.spec)
    .filter(([field]) => fields.includes(field))
    .map(([field, member]) => sentAs(field, member));
  try {
    const id = idOf(context);
    return (id && (await remotesOf(context).read(id, requestOptions(context), members))) || "Unknown";
  } catch (error) {
    if (!reconcileErrorOf(error)) throw error;
    return "Unknown";
  }
}

export const idOf = ({ kind, object, cluster }: ReconcileContext): string | undefined =>
  object.status?.id ?? idFromSpec(kind, object, cluster);

/**
 * Records that modules stay, by their fields, in the status of each object to which they refer: by the spec, and by
 * what the account has, if that may be something else. If it is not known what the account has: in all objects to which
 * they may refer.
 */
export async function recordLeftModules(
  context: ReconcileContext,
  left: readonly string[],
  seen: Remote | "Unknown" | undefined,
): Promise<void> {
  const { cluster } = context;
  const id = idOf(context);
  if (id === undefined) return;
  for (const [targetKind, target] of targetsOf(context, left, seen)) {
    const { leftOn = [] } = target.status ?? {};
    if (leftOn.includes(id)) continue;
    const status = { ...target.status, leftOn: [...leftOn, id] };
    if (!(await cluster.writeStatus(targetKind, target, status))) throw new Outdated("the object is gone");
  }
}

type Target = [kind: Kind, object: ManagedObject];

function targetsOf(
  context: ReconcileContext,
  fields: readonly string[],
  seen: Remote | "Unknown" | undefined,
): Target[] {
  const named = namedTargets(context, fields);
  const known = named.flatMap(([, { status }]) => status?.id ?? []);
  const others = seen === "Unknown" ? possibleTargets(context, fields) : seenTargets(context, fields, seen, known);
  const found = [...named, ...others];
  return [...new Map(found.map(([kind, target]): [string, Target] => [target.metadata.uid, [kind, target]])).values()];
}

/** The objects to which these fields of the spec refer. */
function namedTargets(context: ReconcileContext, fields: readonly string[]): Target[] {
  const { kind, object, cluster } = context;
  const spec = Object.fromEntries(fields.map((field) => [field, object.spec[field]]));
  return needsOf(kind.spec, spec).flatMap((need) => {
    if (need.type !== "reference") return [];
    const { to, trait } = need;
    const kinds = cluster.kinds.filter((one) =>
      to.kind === undefined ? trait.kinds.includes(one.kind) : one.kind === to.kind,
    );
    return kinds.flatMap((one) =>
      to.name === undefined ? withRemote(context, one, to.id ?? "") : withName(context, one, to.name),
    );
  });
}

function withName(context: ReconcileContext, kind: Kind, name: string): Target[] {
  const { cluster, object } = context;
  const { namespace } = object.metadata;
  refuseUnseen(cluster, kind.kind, "InUse", WHY, namespace);
  const target = cluster.get(kind.kind, namespace, name);
  if (!target) return [];
  // An object that only observes is not the one whose deletion deletes the remote.
  const { id } = target.status ?? {};
  return [[kind, target], ...(id !== undefined && isObserver(target) ? withRemote(context, kind, id) : [])];
}

function withRemote({ cluster, object }: ReconcileContext, kind: Kind, id: string): Target[] {
  refuseUnseen(cluster, kind.kind, "InUse", WHY);
  return cluster.othersWithRemoteID(kind, id, object).map((target) => [kind, target]);
}

const WHY = "a module that stays refers to one";

/** The objects to whose remotes the modules refer in the account. `known`: ids whose objects are known already. */
function seenTargets(
  context: ReconcileContext,
  fields: readonly string[],
  seen: Remote | undefined,
  known: readonly string[],
): Target[] {
  if (!seen) return [];
  const { kind } = context;
  const members = fields.map((field) => sentAs(field, kind.spec.shape[field]));
  const modules = Object.fromEntries(members.map((member) => [member, seen[member]]));
  const ids = [...referencedValues(kind.spec, modules)].filter((id) => !known.includes(id));
  return targetKinds(context, fields).flatMap((one) =>
    ids.filter((id) => id.startsWith(one.resource.idPrefix)).flatMap((id) => withRemote(context, one, id)),
  );
}

function possibleTargets(context: ReconcileContext, fields: readonly string[]): Target[] {
  const { cluster } = context;
  return targetKinds(context, fields).flatMap((one) => {
    refuseUnseen(cluster, one.kind, "InUse", WHY);
    return cluster.inAccount(one, context.object).map((target): Target => [one, target]);
  });
}

const targetKinds = ({ kind, cluster }: ReconcileContext, fields: readonly string[]): Kind[] =>
  cluster.kinds.filter((one) => fieldsReferringTo(kind.spec, one.kind).some(([field]) => fields.includes(field)));
