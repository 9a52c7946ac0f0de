import { isCreatable } from "../../account/remotes/remotes.ts";
import { isGatewayError, isNotFound, isUnsupported, mayArriveLate, mayBeCarriedOut } from "../../gateway/errors.ts";
import type { Remote } from "../../gateway/resource.ts";
import { changeRefused } from "../../objects/errors/service.ts";
import { reconcileErrorOf } from "../../objects/map-error.ts";
import { Blocked, Outdated } from "../../objects/reconcile-error.ts";
import { canBeRecreated } from "../../schema/common.ts";
import { isUnset, membersOf, withoutExclusions } from "../../schema/wire/compare.ts";
import type { Body } from "../../schema/wire/request.ts";
import { isSwitchedOff } from "../../schema/wire/uses.ts";
import { changeOptions, type ReconcileContext, requestOptions, updatableRemotesOf } from "../context.ts";
import { missingRemote } from "../decide/conflicts.ts";
import type { Desired } from "../desired/desired.ts";
import { type Plan, specFields } from "../desired/plan.ts";
import { isOfModules } from "../features.ts";
import { checkpointMark, checkpointUpdate } from "./checkpoint.ts";
import { permitRemoval, removeModule } from "./modules/remove-module.ts";

/**
 * Sends an update and returns the remote as the last answer shows it. Returns the error to report when the service
 * refuses the change, and undefined when it lacks the update operation.
 */
export async function sendPlan(
  context: ReconcileContext,
  desired: Desired,
  needed: Plan,
  remote: Remote,
): Promise<Remote | Blocked | undefined> {
  if (!canBeSent(context, needed)) return undefined;
  try {
    const updated = await applyPlan(context, desired, needed, remote);
    context.record.forgetUnansweredUpdate();
    return updated;
  } catch (error) {
    if (mayBeCarriedOut(error)) context.record.recordUnansweredUpdate(context.object);
    if (mayArriveLate(error)) context.record.recordLateUpdate(context.object);
    const refused = refusedChange(context, needed, error);
    if (!refused) throw error;
    return refused;
  }
}

/** Undefined when the service lacks the update operation. */
async function applyPlan(
  context: ReconcileContext,
  desired: Desired,
  { body, remove }: Plan,
  remote: Remote,
): Promise<Remote | undefined> {
  const permit = remove.length > 0 ? await permitRemoval(context, remote) : undefined;
  await checkpointUpdate(context, desired.secrets);
  await checkpointMark(context, remote, body);
  context.state.sent = true;
  let latest = remote;
  for (const part of partsOf(context, body)) {
    const updated = await sendUpdate(context, desired, part, remote);
    if (!updated) return undefined;
    latest = updated;
    // What it replaces stays on. The difference is sent again, or reported.
    if (isLeftOff(context, part, latest)) return latest;
  }
  if (permit) for (const member of remove) latest = await removeModule(context, permit, member, latest);
  return latest;
}

/** What is sent one after another. A kind whose modules have requests of their own switches off in the last ones. */
function partsOf(context: ReconcileContext, body: Body): Body[] {
  const parts = withoutExclusions(context.kind.spec, body);
  const sent = isOfModules(context) ? parts.flatMap((part) => [membersOn(part, true), membersOn(part, false)]) : parts;
  return sent.filter((part) => Object.keys(part).length > 0);
}

const membersOn = (body: Body, isOn: boolean): Body =>
  Object.fromEntries(Object.entries(body).filter(([, value]) => isSwitchedOff(value) !== isOn));

/** Whether a module that was to be switched on is off by the answer. */
const isLeftOff = ({ kind }: ReconcileContext, sent: Body, answered: Remote): boolean =>
  [...membersOf(kind.spec)].some(
    ([member, { traits }]) =>
      traits.module && !isUnset(sent[member]) && !isSwitchedOff(sent[member]) && isOff(answered[member]),
  );

const isOff = (module: unknown): boolean => module === null || isSwitchedOff(module);

async function sendUpdate(
  context: ReconcileContext,
  desired: Desired,
  body: Body,
  { id }: Remote,
): Promise<Remote | undefined> {
  const { kind, account } = context;
  const remotes = updatableRemotesOf(context);
  try {
    account.operations.tried(kind.resource, "update");
    const updated = await remotes.update(id, body, changeOptions(context, desired));
    account.operations.accepted(kind.resource, "update");
    return updated;
  } catch (error) {
    if (isNotFound(error) && !isCreatable(remotes)) throw missingRemote(context, id, error);
    const exists = isNotFound(error) && (await remotes.read(id, requestOptions(context))) !== undefined;
    if (isNotFound(error) && !exists) throw new Outdated(`${id} is gone`, { cause: error });
    if (!isUnsupported(error) && !exists) throw error;
    account.operations.refused(kind.resource, "update");
    return undefined;
  }
}

function canBeSent({ account, kind }: ReconcileContext, { body, frozen, undocumented }: Plan): boolean {
  if (frozen.length > 0) return false;
  if (Object.keys(body).length === 0) return true;
  return (
    account.operations.mayTry(kind.resource, "update") &&
    (undocumented.length === 0 || account.operations.triesUndocumented)
  );
}

/**
 * The error to report when the service refuses what was sent. Where the API page does not show that updates take these
 * members, the value may be wrong, or the member may be accepted on create only. Undefined: the error has another cause.
 */
function refusedChange({ kind }: ReconcileContext, { undocumented, fields }: Plan, error: unknown) {
  const refusal = isGatewayError(error) ? reconcileErrorOf(error) : undefined;
  if (!isGatewayError(error) || !(refusal instanceof Blocked) || refusal.reason !== "InvalidSpec") return undefined;
  if (undocumented.length === 0 || !canBeRecreated(kind)) return refusal;
  const title = kind.naturalKey ? undefined : kind.resource.title;
  const answer = error.serviceMessage ?? error.message;
  return changeRefused({ fields: specFields(fields), title, answer }, { cause: error });
}
