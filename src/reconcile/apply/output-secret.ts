import type { Remote } from "../../gateway/resource.ts";
import { Blocked } from "../../objects/reconcile-error.ts";
import { GROUP } from "../../schema/contract.ts";
import type { SecretValue } from "../cluster.ts";
import type { ReconcileContext } from "../context.ts";

/** On a Secret that the operator writes: which remote its value is of. */
const REMOTE_ID = `${GROUP}/remote-id`;

/**
 * Before a create whose answer holds something that is to be kept: makes sure that it can be.
 * A Secret that is not this object's is never written to.
 */
export async function checkOutputSecret(context: ReconcileContext): Promise<void> {
  const { cluster, object, kind } = context;
  const name = nameOf(context);
  if (!kind.output || name === undefined) return;
  refuseForeignSecret(context, name, await cluster.secret(object.metadata.namespace, name));
  if (!kind.output.once) return;
  // what is shown once and cannot be kept would be made again and again
  await cluster.tryWriteSecret(object, { name, data: { [kind.output.key]: "" }, annotations: {} });
}

/** Writes what an answer holds to its Secret. */
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
 * Keeps the Secret as it should be. False when its value is lost and only a new remote has one.
 * Reads one Secret, and writes it only when it differs.
 */
export async function ensureOutputSecret(context: ReconcileContext, remote: Remote): Promise<boolean> {
  const { output } = context.kind;
  const name = nameOf(context);
  if (!output || name === undefined) return true;
  // the value of what was taken over is with whoever made it
  if (output.once && context.object.spec.adopt?.id === remote.id) return true;
  const secret = await context.cluster.secret(context.object.metadata.namespace, name);
  refuseForeignSecret(context, name, secret);
  const value = secret?.data[output.key];
  const isOfRemote = secret?.annotations[REMOTE_ID] === remote.id;
  if (output.once) return isOfRemote && value !== undefined && value !== "";
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
