import type { Remote } from "../../gateway/resource.ts";
import { Blocked } from "../../objects/reconcile-error.ts";
import { GROUP } from "../../schema/contract.ts";
import type { SecretValue } from "../cluster.ts";
import type { ReconcileContext } from "../context.ts";

/** Annotation of a Secret that the operator writes: the id of the remote whose value the Secret has. */
const REMOTE_ID = `${GROUP}/remote-id`;

/**
 * Makes sure, before a create, that the value in its answer can be written to a Secret. Throws Blocked when a Secret of
 * that name does not belong to this object.
 */
export async function checkOutputSecret(context: ReconcileContext): Promise<void> {
  const { cluster, object, kind } = context;
  const name = nameOf(context);
  if (!kind.output || name === undefined) return;
  refuseForeignSecret(context, name, await cluster.secret(object.metadata.namespace, name));
  if (!kind.output.shownOnce) return;
  // A value that is shown once and cannot be stored would make the operator create remotes again and again.
  await cluster.tryWriteSecret(object, { name, data: { [kind.output.key]: "" }, annotations: {} });
}

/** Writes the value in an answer to the Secret. Does nothing when the answer has no value. */
export async function writeOutputSecret(context: ReconcileContext, remote: Remote): Promise<void> {
  const { output } = context.kind;
  const name = nameOf(context);
  if (!output || name === undefined) return;
  const value = remote[output.member];
  if (typeof value !== "string" || value === "") return;
  const data = { [output.key]: value };
  await context.cluster.writeSecret(context.object, { name, data, annotations: { [REMOTE_ID]: remote.id } });
}

/**
 * Brings the Secret to the value of the remote. False when the value was shown once and is lost, so that only a new
 * remote would have one. Reads one Secret, and writes it only when it differs.
 */
export async function ensureOutputSecret(context: ReconcileContext, remote: Remote): Promise<boolean> {
  const { output } = context.kind;
  const name = nameOf(context);
  if (!output || name === undefined) return true;
  // The value of an adopted remote was shown to the person who created it.
  if (output.shownOnce && context.object.spec.adopt?.id === remote.id) return true;
  const secret = await context.cluster.secret(context.object.metadata.namespace, name);
  refuseForeignSecret(context, name, secret);
  const value = secret?.data[output.key];
  const isOfRemote = secret?.annotations[REMOTE_ID] === remote.id;
  if (output.shownOnce) return isOfRemote && value !== undefined && value !== "";
  if (!isOfRemote || value !== remote[output.member]) await writeOutputSecret(context, remote);
  return true;
}

function refuseForeignSecret({ kind, object }: ReconcileContext, name: string, secret: SecretValue | undefined): void {
  if (!secret || secret.owners.includes(object.metadata.uid)) return;
  throw new Blocked(
    "SecretNotReady",
    `Choose another spec.${kind.output?.field}, or delete Secret "${name}": it exists and is not this object's`,
  );
}

const nameOf = ({ kind, object }: ReconcileContext): string | undefined =>
  kind.output && (object.spec[kind.output.field] as string | undefined);
