import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import {
  dnsEndpointAwaited,
  dnsEndpointConflict,
  dnsEndpointNotOwn,
  dnsEndpointRefused,
  dnsKindMissing,
  dnsRightMissing,
} from "../../objects/errors/kubernetes.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { isReconcileError } from "../../objects/reconcile-error.ts";
import type { DNSEndpointContent } from "../../reconcile/cluster.ts";
import type { KubeClient } from "../../runtime/connection/client.ts";
import {
  isConflict,
  isForbidden,
  isInvalid,
  isKindAbsent,
  isNotFound,
  isUnreachable,
  KubeError,
} from "../../runtime/connection/errors.ts";
import {
  apiVersionOf,
  type KubeObject,
  type ObjectRef,
  type OwnerReference,
  resourceName,
} from "../../runtime/object.ts";
import { API_VERSION, endpointAnnotations, OPERATOR_NAME } from "../../schema/contract.ts";
import { toReconcileError, wordsOf } from "./api-error.ts";
import { dnsEndpoints } from "./resource-types.ts";

const MANAGED_BY = "app.kubernetes.io/managed-by";

/** The longest name of an object in Kubernetes. */
const LONGEST_NAME = 253;

/** An object whose spec and status do not matter. */
type NamedObject = Pick<KubeObject, "kind" | "metadata">;

/** Creates or updates the DNSEndpoint of an object. Reads it first, so that an unchanged one costs no write. */
export async function writeDNSEndpoint(
  client: KubeClient,
  object: ManagedObject,
  content: DNSEndpointContent,
): Promise<void> {
  try {
    const wanted = manifestOf(object, content);
    const before = await read(client, object);
    if (before && isSame(before, wanted)) return;
    if (before && !isWrittenFor(object, before)) {
      throw dnsEndpointNotOwn({ name: before.metadata.name });
    }
    // Without force, a DNSEndpoint that somebody else creates at the same moment is a conflict.
    const uid = before?.metadata.uid;
    const metadata = { ...wanted.metadata, ...(uid !== undefined && { uid }) };
    await client.apply(dnsEndpoints, { ...wanted, metadata }, { force: before !== undefined });
  } catch (error) {
    throw explained(error);
  }
}

/**
 * Deletes the DNSEndpoint. If the operator has no right to delete it, the garbage collector does so through the owner
 * reference.
 */
export async function deleteDNSEndpoint(client: KubeClient, object: ManagedObject): Promise<void> {
  try {
    const before = await read(client, object);
    if (!before || !isWrittenFor(object, before)) return;
    await client.delete(dnsEndpoints, before.metadata, { uid: before.metadata.uid });
  } catch (error) {
    if (!isNotFound(error) && !isForbidden(error)) throw toReconcileError(error);
  }
}

/**
 * Removes the owner reference, so that the DNSEndpoint stays when the object is deleted. Does nothing if there is none, or
 * it was not written for the object. Throws a ReconcileError or Outdated.
 */
export async function keepDNSEndpoint(client: KubeClient, object: NamedObject): Promise<void> {
  try {
    const before = await read(client, object);
    if (!before || !isWrittenFor(object, before)) return;
    const { uid } = object.metadata;
    const index = before.metadata.ownerReferences?.findIndex((owner) => owner.uid === uid) ?? -1;
    if (index < 0) return;
    const path = `/metadata/ownerReferences/${index}`;
    // external-dns may write its status meanwhile
    await client.patchJSON(dnsEndpoints, before.metadata, [
      { op: "test", path: "/metadata/uid", value: before.metadata.uid },
      { op: "test", path: `${path}/uid`, value: uid },
      { op: "remove", path },
    ]);
  } catch (error) {
    if (!isNotFound(error)) throw toReconcileError(error);
  }
}

/** Undefined: there is no DNSEndpoint. Throws if the cluster does not know the kind. */
async function read(client: KubeClient, object: NamedObject): Promise<KubeObject | undefined> {
  try {
    return await client.get(dnsEndpoints, refOf(object));
  } catch (error) {
    if (isNotFound(error) && !isKindAbsent(error)) return undefined;
    throw error;
  }
}

/** The name contains the kind, since two objects of different kinds may have the same name. */
function refOf({ kind, metadata }: NamedObject): ObjectRef {
  const name = `${kind.toLowerCase()}-${metadata.name}`;
  const short = `${name.slice(0, LONGEST_NAME - 17)}-${digestOf(name).slice(0, 16)}`;
  return { namespace: metadata.namespace, name: name.length > LONGEST_NAME ? short : name };
}

function manifestOf(object: ManagedObject, { labels, annotations, endpoints, owned }: DNSEndpointContent): KubeObject {
  const { namespace, name } = refOf(object);
  const content = {
    labels: { ...labels, [MANAGED_BY]: OPERATOR_NAME },
    annotations: { ...annotations, [endpointAnnotations.object]: ownerNameOf(object) },
    ownerReferences: owned ? [ownerReferenceOf(object)] : [],
  };
  const spec = { endpoints };
  return {
    apiVersion: apiVersionOf(dnsEndpoints),
    kind: dnsEndpoints.kind,
    metadata: {
      ...(namespace !== undefined && { namespace }),
      name,
      ...content,
      annotations: { ...content.annotations, [endpointAnnotations.digest]: digestOf(JSON.stringify([content, spec])) },
    },
    spec,
  };
}

const ownerNameOf = ({ kind, metadata }: NamedObject): string => `${kind}/${metadata.name}`;

const ownerReferenceOf = ({ kind, metadata: { name, uid } }: ManagedObject): OwnerReference => ({
  apiVersion: API_VERSION,
  kind,
  name,
  uid,
  controller: true,
});

/**
 * Whether the DNSEndpoint was written for an object of this kind and name. An earlier object of the same name may have
 * left it: then this object takes it over.
 */
const isWrittenFor = (object: NamedObject, { metadata: { labels, annotations } }: KubeObject): boolean =>
  labels?.[MANAGED_BY] === OPERATOR_NAME && annotations?.[endpointAnnotations.object] === ownerNameOf(object);

/**
 * The digest shows whether the wanted content has changed. The other comparisons show whether somebody else changed it.
 */
function isSame(before: KubeObject, wanted: KubeObject): boolean {
  const { labels, annotations, ownerReferences = [] } = before.metadata;
  const uids = (references: readonly OwnerReference[] = []) => references.map(({ uid }) => uid);
  return (
    isDeepStrictEqual(before["spec"], wanted["spec"]) &&
    isDeepStrictEqual(uids(ownerReferences), uids(wanted.metadata.ownerReferences)) &&
    contains(labels, wanted.metadata.labels) &&
    contains(annotations, wanted.metadata.annotations)
  );
}

const contains = (all: Readonly<Record<string, string>> = {}, some: Readonly<Record<string, string>> = {}): boolean =>
  Object.entries(some).every(([key, value]) => all[key] === value);

const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex");

function explained(error: unknown): unknown {
  const options = { cause: error };
  if (isReconcileError(error)) return error;
  if (isKindAbsent(error)) return dnsKindMissing({ resource: resourceName(dnsEndpoints) }, options);
  if (isForbidden(error)) return dnsRightMissing({ answer: error.message }, options);
  if (isInvalid(error)) return dnsEndpointRefused({ answer: wordsOf(error) }, options);
  if (isConflict(error)) return dnsEndpointConflict({}, options);
  if (!isUnreachable(error) && !(error instanceof KubeError)) return error;
  return dnsEndpointAwaited({ answer: error.message }, options);
}
