import type { KubeObject, ResourceType } from "../object.ts";
import type { KubeClient } from "./client.ts";
import { isNotFound } from "./errors.ts";

/**
 * Removes one finalizer from an object, and no other. Resolves with the new state of the object, or with undefined if
 * there is nothing to do: `object` does not have the finalizer, or is gone from the API server.
 *
 * Rejects with an error that `isFailedTest` recognizes, and changes nothing, when another object has taken the name or
 * another client has changed the list of finalizers. Read the object again then.
 */
export async function removeFinalizer<T extends KubeObject>(
  client: Pick<KubeClient, "patchJSON">,
  type: ResourceType,
  { metadata }: T,
  finalizer: string,
): Promise<T | undefined> {
  const index = metadata.finalizers?.indexOf(finalizer) ?? -1;
  if (index < 0) return undefined;
  const path = `/metadata/finalizers/${index}`;
  try {
    return await client.patchJSON<T>(type, metadata, [
      { op: "test", path: "/metadata/uid", value: metadata.uid },
      { op: "test", path, value: finalizer },
      { op: "remove", path },
    ]);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
