import { createHash } from "node:crypto";
import type { Remote } from "../../gateway/resource.ts";
import { secretChanged } from "../../objects/errors/spec.ts";
import { intentOf } from "../../objects/intent.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { leavesItsRemote } from "../../objects/origin.ts";
import { isMadeBy, ownerMarkOf } from "../../objects/ownership.ts";
import { secretAnnotations } from "../../schema/contract.ts";
import type { SecretOwnership, SecretValue } from "../cluster.ts";
import { readRemote } from "../context.ts";
import {
  type Destination,
  destinationOf,
  isWrittenFor,
  type NamedSecret,
  readOwnSecret,
} from "../decide/output-place.ts";
import type { OutputContext } from "../features.ts";
import { recordLostToken, recordToken, recordUnseenToken } from "../use/token-records.ts";
import { checkpointCreated } from "./checkpoint.ts";
import { uselessCreate } from "./refused-request.ts";

/**
 * Writes a value that is shown once from the answer to a create to the Secret. Throws when the answer has none: only a new
 * remote can have one, and the attempts that create it have to become rare.
 */
export async function keepShownOnce(context: OutputContext, remote: Remote): Promise<void> {
  const to = destinationOf(context);
  if (!to?.shownOnce) return;
  const value = valueIn(remote, to);
  if (value === undefined) {
    if (await isMadeByThisCreate(context, remote)) recordUnseenToken(context, remote);
    throw uselessCreate(context, remote, `was created, but the answer has no ${to.member} that can be read`);
  }
  recordToken(context, remote, value);
  // Before the token is stored: a process that ends in between leaves a token that nobody was given.
  await checkpointCreated(context);
  await writeValue(context, to, remote, value);
}

/** By the mark of the remote. An answer may show a key that was there before, which somebody uses. */
async function isMadeByThisCreate(context: OutputContext, remote: Remote): Promise<boolean> {
  const shown = ownerMarkOf(remote) === undefined ? await readRemote(context, remote.id) : remote;
  const { create } = intentOf(context.object) ?? {};
  return shown !== undefined && create !== undefined && isMadeBy(shown, context.owner, create);
}

const valueIn = (remote: Remote, { member }: Destination): string | undefined => {
  const value = remote[member];
  return typeof value === "string" && value !== "" ? value : undefined;
};

/**
 * Brings the Secret to the value of the remote, and discards the former Secret if the spec has come to name another
 * one. Returns false when the value was shown once and is lost, so that only a new remote would have one. Reads one
 * Secret, and writes it only when it differs. Throws Blocked when somebody has changed a value that is shown once.
 */
export async function ensureOutputSecret(context: OutputContext, remote: Remote): Promise<boolean> {
  const { cluster, object, state } = context;
  const { output } = context.kind;
  if (output.shownOnce && wasShownToOthers(object, remote)) return true;
  const to = destinationOf(context);
  const former = await readFormerSecret(context);
  if (to && !(await hasValue(context, to, remote, former))) {
    recordLostToken(context, remote);
    return false;
  }
  // The new Secret gets the value before the old one is deleted.
  if (former) await cluster.secrets.bind(object, { name: former.name, annotations: {}, ownership: "discarded" });
  state.next.outputSecret = to?.name ?? "";
  return true;
}

/**
 * The value of an adopted remote was shown to whoever created it. It stays so when the spec no longer says `adopt`: the
 * object has no Secret with it, and has not created it.
 */
function wasShownToOthers(object: ManagedObject, { id }: Remote): boolean {
  const { spec, status } = object;
  if (spec.adopt?.id === id) return true;
  const isStored = status?.outputSecret !== undefined;
  return status?.id === id && !isStored && (status.origin === "Adopted" || intentOf(object) === undefined);
}

/**
 * Keeps a value that is shown once after its object is deleted. With an owner reference, the garbage collector would
 * delete the only copy.
 */
export async function keepOutputSecret(context: OutputContext): Promise<void> {
  const { cluster, object, kind } = context;
  if (!kind.output.shownOnce) return;
  const names = new Set([destinationOf(context)?.name, object.status?.outputSecret]);
  for (const name of names) {
    if (name) await cluster.secrets.bind(object, { name, annotations: {}, ownership: "kept" });
  }
}

/** `former`: the Secret that had the value until the spec named another one. */
async function hasValue(
  context: OutputContext,
  to: Destination,
  remote: Remote,
  former: NamedSecret | undefined,
): Promise<boolean> {
  const { name, key, member } = to;
  const secret = await readOwnSecret(context, to);
  const isOf = (one: NamedSecret | undefined) => one?.annotations[secretAnnotations.remoteID] === remote.id;
  if (!to.shownOnce) {
    if (!isOf(secret) || secret?.data[key] !== remote[member]) await writeAnswer(context, to, remote);
    return true;
  }
  const stored = [secret, former].find((one) => isOf(one) && one?.data[key]);
  const value = stored?.data[key];
  if (!stored || !value) return false;
  refuseChanged(context, to, stored, value);
  recordToken(context, remote, value);
  if (stored === former) await writeValue(context, to, remote, value);
  else if (!isBound(context, stored))
    await context.cluster.secrets.bind(context.object, {
      name,
      annotations: annotationsOf(context, value, remote),
      ownership: ownershipOf(context),
    });
  return true;
}

/** Writes the value from an answer to the Secret. Does nothing when the answer has no value. */
async function writeAnswer(context: OutputContext, to: Destination, remote: Remote): Promise<void> {
  const value = valueIn(remote, to);
  if (value !== undefined) await writeValue(context, to, remote, value);
}

function writeValue(context: OutputContext, to: Destination, remote: Remote, value: string): Promise<void> {
  const { cluster, object } = context;
  const { name, key } = to;
  const annotations = annotationsOf(context, value, remote);
  return cluster.secrets.write(object, { name, data: { [key]: value }, annotations, ownership: ownershipOf(context) });
}

const annotationsOf = ({ object }: OutputContext, value: string, { id }: Remote) => ({
  [secretAnnotations.remoteID]: id,
  [secretAnnotations.objectUID]: object.metadata.uid,
  [secretAnnotations.digest]: digestOf(value),
});

const digestOf = (value: string): string => createHash("sha256").update(value).digest("hex");

/**
 * Foreground deletion collects owned objects before the operator sees the deletion, so the Secret must have no owner
 * reference before that.
 */
const ownershipOf = ({ kind, object }: OutputContext): SecretOwnership =>
  kind.output.shownOnce && leavesItsRemote(object) ? "kept" : "owned";

function isBound(context: OutputContext, { owners, annotations }: SecretValue): boolean {
  const isOwned = owners.includes(context.object.metadata.uid);
  return isOwned === (ownershipOf(context) === "owned") && annotations[secretAnnotations.digest] !== undefined;
}

function refuseChanged(
  { kind }: OutputContext,
  { key }: Destination,
  { name, annotations }: NamedSecret,
  value: string,
): void {
  const digest = annotations[secretAnnotations.digest];
  if (digest === undefined || digest === digestOf(value)) return;
  throw secretChanged({ name, key, title: kind.resource.title });
}

async function readFormerSecret(context: OutputContext): Promise<NamedSecret | undefined> {
  const { object, cluster } = context;
  const name = object.status?.outputSecret;
  if (name === undefined || name === destinationOf(context)?.name) return undefined;
  const secret = await cluster.secrets.read(object.metadata.namespace, name);
  return secret && isWrittenFor(object, secret) ? { ...secret, name } : undefined;
}
