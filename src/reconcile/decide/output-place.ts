import { secretNotOwn } from "../../objects/errors/spec.ts";
import type { ManagedObject } from "../../objects/object.ts";
import type { Blocked } from "../../objects/reconcile-error.ts";
import { secretAnnotations } from "../../schema/contract.ts";
import type { Output } from "../../schema/define.ts";
import type { SecretValue } from "../cluster.ts";
import type { ReconcileContext } from "../context.ts";
import type { OutputContext } from "../features.ts";

export type NamedSecret = SecretValue & { name: string };

/** Where the value of a remote goes: to the Secret that the spec names. */
export type Destination = Output & { name: string };

/** Why the value in the answer to a create could not be written to its Secret. Throws what a dry run of that throws. */
export async function withoutPlace(context: OutputContext): Promise<Blocked | undefined> {
  const { cluster, object } = context;
  const to = destinationOf(context);
  if (!to) return undefined;
  const secret = await cluster.secrets.read(object.metadata.namespace, to.name);
  if (secret && !isWrittenFor(object, secret)) return notOwn(to);
  if (!to.shownOnce) return undefined;
  const { name, key } = to;
  await cluster.secrets.tryWrite(object, { name, data: { [key]: "" }, annotations: {}, ownership: "owned" });
  return undefined;
}

/** Throws Blocked when the Secret was not written for this object. */
export async function readOwnSecret(
  { object, cluster }: ReconcileContext,
  to: Destination,
): Promise<NamedSecret | undefined> {
  const secret = await cluster.secrets.read(object.metadata.namespace, to.name);
  if (secret && !isWrittenFor(object, secret)) throw notOwn(to);
  return secret && { ...secret, name: to.name };
}

const notOwn = ({ name, field }: Destination): Blocked => secretNotOwn({ name, field });

export const isWrittenFor = ({ metadata }: ManagedObject, { owners, annotations }: SecretValue): boolean =>
  owners.includes(metadata.uid) || annotations[secretAnnotations.objectUID] === metadata.uid;

/** Undefined when the spec names no Secret. */
export function destinationOf({ kind: { output }, object }: OutputContext): Destination | undefined {
  const name = object.spec[output.field] as string | undefined;
  return name === undefined ? undefined : { ...output, name };
}
