import type { Row } from "../../account/inventory.ts";
import { Blocked } from "../../objects/reconcile-error.ts";
import { GROUP } from "../../schema/contract.ts";
import type { SecretValue } from "../cluster.ts";
import type { Pass } from "../context.ts";

/** On a Secret that the operator writes: which remote its value is of. */
const REMOTE_ID = `${GROUP}/remote-id`;

/**
 * Before a create whose answer holds something that is to be kept: makes sure that it can be.
 * A Secret that is not this object's is never written to.
 */
export async function claim(pass: Pass): Promise<void> {
  const { cluster, object, kind } = pass;
  const name = nameOf(pass);
  if (!kind.output || name === undefined) return;
  refuseOthers(pass, name, await cluster.secret(object.metadata.namespace, name));
  if (!kind.output.once) return;
  // what is shown once and cannot be kept would be made again and again
  await cluster.tryWriteSecret(object, { name, data: { [kind.output.key]: "" }, annotations: {} });
}

/** Writes what an answer holds to its Secret. */
export async function deliver(pass: Pass, row: Row): Promise<void> {
  const { output } = pass.kind;
  const name = nameOf(pass);
  if (!output || name === undefined) return;
  const value = row[output.member];
  if (typeof value !== "string" || value === "") return;
  const data = { [output.key]: value };
  await pass.cluster.writeSecret(pass.object, { name, data, annotations: { [REMOTE_ID]: row.id } });
}

/**
 * Keeps the Secret as it should be. False when its value is lost and only a new remote has one.
 * Reads one Secret, and writes it only when it differs.
 */
export async function delivered(pass: Pass, row: Row): Promise<boolean> {
  const { output } = pass.kind;
  const name = nameOf(pass);
  if (!output || name === undefined) return true;
  // the value of what was taken over is with whoever made it
  if (output.once && pass.object.spec.adopt?.id === row.id) return true;
  const secret = await pass.cluster.secret(pass.object.metadata.namespace, name);
  refuseOthers(pass, name, secret);
  const current = secret?.data[output.key];
  const isOf = secret?.annotations[REMOTE_ID] === row.id;
  if (output.once) return isOf && current !== undefined && current !== "";
  if (!isOf || current !== row[output.member]) await deliver(pass, row);
  return true;
}

function refuseOthers({ kind, object }: Pass, name: string, secret: SecretValue | undefined): void {
  if (!secret || secret.owners.includes(object.metadata.uid)) return;
  throw new Blocked(
    "SecretNotReady",
    `Choose another spec.${kind.output?.field}, or delete Secret "${name}": it exists and is not this object's`,
  );
}

const nameOf = ({ kind, object }: Pass): string | undefined =>
  kind.output && (object.spec[kind.output.field] as string | undefined);
