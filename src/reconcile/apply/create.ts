import { withoutSecrets } from "../../account/calls.ts";
import type { Row } from "../../account/inventory.ts";
import { refuseStrangeAccount } from "../../account/mass-loss-guard.ts";
import { type GatewayError, isGatewayError } from "../../gateway/errors.ts";
import { identityOf, isShared } from "../../objects/identity.ts";
import { type Intent, intentOf, sendWindow, textOf } from "../../objects/intent.ts";
import { ownerIn, ownerText, withOwner } from "../../objects/ownership.ts";
import { Blocked, Outdated, Retry } from "../../objects/reconcile-error.ts";
import type { Body } from "../../schema/wire/request.ts";
import { look, now, type Pass, remotesOf, sending } from "../context.ts";
import type { Desired } from "../desired/desired.ts";
import { isFree } from "../find/by-owner-mark.ts";
import { sameKey } from "../find/find.ts";
import { isPreexisting } from "../find/sharing.ts";
import { appliedFields } from "../status/report.ts";
import { claim, deliver } from "./output-secret.ts";

/**
 * Makes the remote of an object, by a protocol that loses nothing: the finalizer and the intent are durable before the
 * request is sent, and an intent without an id makes the next pass look before it creates again (see find.ts).
 * `old`: the id of the remote whose place it takes, which is to be deleted then.
 */
export async function create(pass: Pass, desired: Desired, old?: string): Promise<Row> {
  const remotes = remotesOf(pass);
  const body = creatable(pass, desired.body);
  await claim(pass);
  refuseStrangeAccount(pass);
  await remotes.admit(sending(pass), body);
  const began = pass.clock.now();
  const intent = await record(pass, body);
  // the calendar may have been set meanwhile, and the other clock stands still while the machine is suspended
  const elapsed = Math.max(pass.clock.now() - began, now(pass) - intent.last);
  if (elapsed > sendWindow(pass.account.deadlineMs)) {
    throw new Retry("Creating", "Trying again: recording the create took longer than it may");
  }
  const row = await send(pass, body, intent);
  // from here on the id reaches the status, whatever fails, and so does that of the one to be deleted
  Object.assign(pass.findings, { remote: row, appliedSecrets: desired.secrets });
  if (old !== undefined) Object.assign(pass.findings, { retiring: old, retired: undefined });
  if (pass.kind.output?.once) await deliver(pass, row);
  // of an answer that could not be read the id is all there is
  return Object.keys(row).length > 1 ? row : await read(pass, row.id);
}

async function read(pass: Pass, id: string): Promise<Row> {
  const row = await remotesOf(pass).find(id, sending(pass), true);
  if (!row) throw new Outdated(`${id} is gone`);
  return row;
}

async function send(pass: Pass, body: Body, intent: Intent): Promise<Row> {
  pass.findings.sent = true;
  try {
    return made(pass, await remotesOf(pass).create(body, sending(pass)));
  } catch (error) {
    if (!isGatewayError(error)) throw error;
    return await afterFailure(pass, intent, error);
  }
}

function made({ findings, kind }: Pass, row: Row): Row {
  findings.created = true;
  if (isShared(kind)) findings.preexisting = false;
  return row;
}

/** The members that a create takes, and the owner's mark. */
function creatable({ kind, owner, object }: Pass, wanted: Body): Body {
  const accepted = kind.remote.create;
  const body = Object.fromEntries(Object.entries(wanted).filter(([member]) => accepted.includes(member)));
  const metadata = withOwner(object.spec["metadata"] as string | undefined, owner);
  return accepted.includes("metadata") && metadata ? { ...body, metadata } : body;
}

async function record(pass: Pass, body: Body): Promise<Intent> {
  const { kind, object, owner } = pass;
  const before = intentOf(object);
  const last = now(pass);
  const known = kind.naturalKey !== undefined || isShared(kind) || ownerIn(body) === ownerText(owner);
  const intent: Intent = {
    first: before?.first ?? last,
    last,
    old: object.status?.id ?? before?.old,
    fields: appliedFields(kind, object.spec),
    sent: known ? undefined : (withoutSecrets(body, kind.remote.secrets ?? []) as Body),
  };
  pass.account.settling.recorded(object, intent, pass.clock.now());
  pass.object = await pass.cluster.annotate(pass.kind, pass.object, { finalizer: true, intent: textOf(intent) });
  return intent;
}

async function afterFailure(pass: Pass, intent: Intent, error: GatewayError): Promise<Row> {
  // it was done
  if (error.id !== undefined) return made(pass, { id: error.id });
  if (error.kind !== "refused" && error.kind !== "limited" && error.kind !== "unsent") throw error;
  pass.account.refused(pass.object, intent);
  if (error.kind === "refused") return takeOrRefuse(pass, error);
  throw error;
}

/** A service says in several ways that a name is taken, so whether it is decides a look. */
async function takeOrRefuse(pass: Pass, error: GatewayError): Promise<Row> {
  const taken = [400, 409, 422].includes(error.status ?? 0);
  const row = taken && isShared(pass.kind) ? await shared(pass) : undefined;
  if (row) return row;
  const ours = taken ? await existing(pass, error) : undefined;
  if (ours) return ours;
  throw error;
}

/** That somebody has made it meanwhile is as good as having made it. */
async function shared(pass: Pass): Promise<Row | undefined> {
  const id = identityOf(pass.kind, pass.object, pass.cluster);
  const row = id === undefined ? undefined : await look(pass, id, true);
  if (row) pass.findings.preexisting = isPreexisting(pass, row.id);
  return row;
}

/** What has the name that was to be taken: this object's own, if an object of its name has left it behind. */
async function existing(pass: Pass, error: GatewayError): Promise<Row | undefined> {
  const row = await sameKey(pass, pass.clock.now());
  if (!row) return undefined;
  const owner = ownerIn(row);
  if (owner === ownerText(pass.owner) && isFree(pass, row)) {
    pass.findings.adopted = true;
    return row;
  }
  const claim = owner ? `, which belongs to ${owner}` : "";
  throw new Blocked("AlreadyExists", `To take over ${row.id}${claim}, add to the spec: adopt: {id: ${row.id}}`, {
    cause: error,
  });
}
