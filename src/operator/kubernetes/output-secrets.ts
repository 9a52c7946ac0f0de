import { isDeepStrictEqual } from "node:util";
import type { ManagedObject } from "../../objects/object.ts";
import { Outdated } from "../../objects/reconcile-error.ts";
import type { SecretContent, SecretOwnership } from "../../reconcile/cluster.ts";
import type { KubeClient } from "../../runtime/connection/client.ts";
import { isAlreadyExists, isNotFound } from "../../runtime/connection/errors.ts";
import type { KubeObject, OwnerReference } from "../../runtime/object.ts";
import { API_VERSION, OPERATOR_NAME, secretAnnotations } from "../../schema/contract.ts";
import { toReconcileError } from "./api-error.ts";
import { secrets } from "./resource-types.ts";

/** Creates a Secret for an object, or replaces the content of one that was written for it. */
export async function writeSecret(
  client: KubeClient,
  object: ManagedObject,
  { name, data, annotations, ownership }: SecretContent,
  options: { dryRun?: true } = {},
): Promise<void> {
  const { namespace } = object.metadata;
  const content = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      namespace,
      name,
      annotations,
      labels: { "app.kubernetes.io/managed-by": OPERATOR_NAME },
      ownerReferences: ownersFor(object, ownership, []),
    },
    stringData: data,
  };
  try {
    await client.create(secrets, content, options);
  } catch (error) {
    if (!isAlreadyExists(error)) throw toReconcileError(error, tellingOf(name));
    await replaceSecret(client, object, content, options);
  }
}

/** Replaces the Secret only if it is still at the resourceVersion that was checked. */
async function replaceSecret(
  client: KubeClient,
  object: ManagedObject,
  content: KubeObject,
  options: { dryRun?: true },
): Promise<void> {
  const { namespace, name } = content.metadata;
  try {
    const { metadata } = await client.get(secrets, { namespace, name });
    if (!isWrittenFor(object, metadata)) throw new Outdated("the Secret was not written for the object");
    const { resourceVersion } = metadata;
    await client.patchMerge(
      secrets,
      { namespace, name },
      { ...content, metadata: { ...content.metadata, resourceVersion } },
      options,
    );
  } catch (error) {
    throw toReconcileError(error, tellingOf(content.metadata.name));
  }
}

/** An answer about the Secret could quote its values. */
const tellingOf = (name: string) => ({ what: `Secret "${name}"`, quotesSecrets: true });

/** Does nothing if the Secret does not exist or was not written for this object. */
export async function bindSecret(
  client: KubeClient,
  object: ManagedObject,
  { name, annotations, ownership }: Omit<SecretContent, "data">,
): Promise<void> {
  const ref = { namespace: object.metadata.namespace, name };
  try {
    const { metadata } = await client.get(secrets, ref, { metadataOnly: true });
    if (!isWrittenFor(object, metadata)) return;
    const { resourceVersion, ownerReferences = [], annotations: before = {} } = metadata;
    const after = { ...before, [secretAnnotations.objectUID]: object.metadata.uid, ...annotations };
    const owners = ownersFor(object, ownership, ownerReferences);
    if (isDeepStrictEqual([before, ownerReferences.map(uidOf)], [after, owners.map(uidOf)])) return;
    await client.patchMerge(secrets, ref, {
      metadata: { resourceVersion, annotations: after, ownerReferences: owners },
    });
  } catch (error) {
    if (!isNotFound(error)) throw toReconcileError(error, tellingOf(name));
  }
}

const uidOf = ({ uid }: OwnerReference): string => uid;

const isWrittenFor = ({ metadata }: ManagedObject, { ownerReferences, annotations }: KubeObject["metadata"]): boolean =>
  ownerReferences?.some(({ uid }) => uid === metadata.uid) === true ||
  annotations?.[secretAnnotations.objectUID] === metadata.uid;

/**
 * The operator has no right to delete Secrets, since that would be a right to delete all of them. To discard a Secret,
 * it makes an object that is gone, or never existed, its owner, so that the garbage collector deletes it.
 */
function ownersFor(
  { kind, metadata }: ManagedObject,
  ownership: SecretOwnership,
  before: readonly OwnerReference[],
): OwnerReference[] {
  const owner = { apiVersion: API_VERSION, kind, name: metadata.name, uid: metadata.uid, controller: true };
  if (ownership === "discarded") return [{ ...owner, uid: `${metadata.uid}-discarded` }];
  const others = before.filter(({ uid }) => uid !== metadata.uid && uid !== `${metadata.uid}-discarded`);
  return ownership === "owned" ? [...others, owner] : others;
}
