import { withoutSecrets } from "../../account/calls.ts";
import { type GatewayError, isGatewayError } from "../../gateway/errors.ts";
import type { Remote } from "../../gateway/resource.ts";
import { identityOf, isShared } from "../../objects/identity.ts";
import { type Intent, intentOf, sendWindow, textOf } from "../../objects/intent.ts";
import { ownerMark, ownerMarkOf, withOwnerMark } from "../../objects/ownership.ts";
import { Blocked, Outdated, Retry } from "../../objects/reconcile-error.ts";
import type { Body } from "../../schema/wire/request.ts";
import { getRemote, now, type ReconcileContext, remotesOf, requestOptions } from "../context.ts";
import type { Desired } from "../desired/desired.ts";
import { appliedFields } from "../desired/desired.ts";
import { findByNaturalKey } from "../find/by-natural-key.ts";
import { isUnclaimed } from "../find/conflicts.ts";
import { refuseStrangeAccount } from "../find/mass-loss.ts";
import { isPreexisting } from "../find/sharing.ts";
import { claim, deliver } from "./output-secret.ts";

/**
 * Makes the remote of an object, by a protocol that loses nothing: the finalizer and the intent are durable before the
 * request is sent, and an intent without an id makes the next reconcile look before it creates again (see find.ts).
 * `old`: the id of the remote whose place it takes, which is to be deleted then.
 */
export async function create(context: ReconcileContext, desired: Desired, old?: string): Promise<Remote> {
  const remotes = remotesOf(context);
  const body = creatable(context, desired.body);
  await claim(context);
  refuseStrangeAccount(context);
  await remotes.admit(requestOptions(context), body);
  const began = context.clock.now();
  const intent = await record(context, body);
  // the calendar may have been set meanwhile, and the other clock stands still while the machine is suspended
  const elapsed = Math.max(context.clock.now() - began, now(context) - intent.last);
  if (elapsed > sendWindow(context.account.deadlineMs)) {
    throw new Retry("Creating", "Trying again: recording the create took longer than it may");
  }
  const row = await send(context, body, intent, old);
  // from here on the id reaches the status, whatever fails, and so does that of the one to be deleted
  Object.assign(context.state, { remote: row, appliedSecrets: desired.secrets });
  if (old !== undefined) context.state.retiring = old;
  if (context.kind.output?.once) await deliver(context, row);
  // of an answer that could not be read the id is all there is
  return Object.keys(row).length > 1 ? row : await read(context, row.id);
}

async function read(context: ReconcileContext, id: string): Promise<Remote> {
  const row = await remotesOf(context).find(id, requestOptions(context), true);
  if (!row) throw new Outdated(`${id} is gone`);
  return row;
}

async function send(context: ReconcileContext, body: Body, intent: Intent, old?: string): Promise<Remote> {
  context.state.sent = true;
  try {
    return made(context, await remotesOf(context).create(body, requestOptions(context)), old);
  } catch (error) {
    if (!isGatewayError(error)) throw error;
    // an answer that cannot be read but has an id: the remote was created
    if (error.id !== undefined) return made(context, { id: error.id }, old);
    return await afterFailure(context, intent, error);
  }
}

function made({ state, changes, kind }: ReconcileContext, row: Remote, replaces?: string): Remote {
  changes.push({ type: "Created", id: row.id, replaces });
  if (isShared(kind)) state.preexisting = false;
  return row;
}

/** The members that a create takes, and the owner's mark. */
function creatable({ kind, owner, object }: ReconcileContext, wanted: Body): Body {
  const accepted = kind.remote.create;
  const body = Object.fromEntries(Object.entries(wanted).filter(([member]) => accepted.includes(member)));
  const metadata = withOwnerMark(object.spec["metadata"] as string | undefined, owner);
  return accepted.includes("metadata") && metadata ? { ...body, metadata } : body;
}

async function record(context: ReconcileContext, body: Body): Promise<Intent> {
  const { kind, object, owner } = context;
  const before = intentOf(object);
  const last = now(context);
  const known = kind.naturalKey !== undefined || isShared(kind) || ownerMarkOf(body) === ownerMark(owner);
  const intent: Intent = {
    first: before?.first ?? last,
    last,
    old: object.status?.id ?? before?.old,
    fields: appliedFields(kind, object.spec),
    sent: known ? undefined : (withoutSecrets(body, kind.remote.secrets ?? []) as Body),
  };
  context.account.createSettlement.recorded(object, intent, context.clock.now());
  context.object = await context.cluster.annotate(context.kind, context.object, {
    finalizer: true,
    intent: textOf(intent),
  });
  return intent;
}

async function afterFailure(context: ReconcileContext, intent: Intent, error: GatewayError): Promise<Remote> {
  if (error.kind !== "refused" && error.kind !== "limited" && error.kind !== "unsent") throw error;
  context.account.refused(context.object, intent);
  if (error.kind === "refused") return takeOrRefuse(context, error);
  throw error;
}

/** A service says in several ways that a name is taken, so whether it is decides a look. */
async function takeOrRefuse(context: ReconcileContext, error: GatewayError): Promise<Remote> {
  const taken = [400, 409, 422].includes(error.status ?? 0);
  const row = taken && isShared(context.kind) ? await shared(context) : undefined;
  if (row) return row;
  const ours = taken ? await existing(context, error) : undefined;
  if (ours) return ours;
  throw error;
}

/** That somebody has made it meanwhile is as good as having made it. */
async function shared(context: ReconcileContext): Promise<Remote | undefined> {
  const id = identityOf(context.kind, context.object, context.cluster);
  const row = id === undefined ? undefined : await getRemote(context, id, true);
  if (row) context.state.preexisting = isPreexisting(context, row.id);
  return row;
}

/** What has the name that was to be taken: this object's own, if an object of its name has left it behind. */
async function existing(context: ReconcileContext, error: GatewayError): Promise<Remote | undefined> {
  const row = await findByNaturalKey(context, context.clock.now());
  if (!row) return undefined;
  const owner = ownerMarkOf(row);
  if (owner === ownerMark(context.owner) && isUnclaimed(context, row)) {
    context.changes.push({ type: "Adopted", id: row.id });
    return row;
  }
  const claim = owner ? `, which belongs to ${owner}` : "";
  throw new Blocked("AlreadyExists", `To take over ${row.id}${claim}, add to the spec: adopt: {id: ${row.id}}`, {
    cause: error,
  });
}
