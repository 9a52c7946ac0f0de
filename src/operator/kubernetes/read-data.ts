import type { SecretValue } from "../../reconcile/cluster.ts";
import type { KubeClient } from "../../runtime/connection/client.ts";
import { isNotFound } from "../../runtime/connection/errors.ts";
import type { KubeObject, ObjectRef, ResourceType } from "../../runtime/object.ts";
import { toReconcileError } from "./api-error.ts";
import { configMaps, secrets } from "./resource-types.ts";

type DataObject = KubeObject & { data?: Record<string, string> };

/** Undefined when it does not exist. Throws a ReconcileError when it may not be read. */
export async function readSecret(client: KubeClient, ref: ObjectRef): Promise<SecretValue | undefined> {
  const found = await read(client, secrets, ref);
  return found && secretValueOf(found);
}

/** The data of a Secret, decoded. */
export function secretValueOf({ metadata, data = {} }: DataObject): SecretValue {
  const { resourceVersion = "", annotations = {}, ownerReferences = [] } = metadata;
  const values = Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]);
  return {
    resourceVersion,
    data: Object.fromEntries(values),
    annotations,
    owners: ownerReferences.map(({ uid }) => uid),
  };
}

/** Undefined when it does not exist. Throws a ReconcileError when it may not be read. */
export async function readConfigMap(
  client: KubeClient,
  ref: ObjectRef,
): Promise<Readonly<Record<string, string>> | undefined> {
  const found = await read(client, configMaps, ref);
  return found && (found.data ?? {});
}

async function read(client: KubeClient, type: ResourceType, ref: ObjectRef): Promise<DataObject | undefined> {
  try {
    return await client.get(type, ref);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw toReconcileError(error);
  }
}
