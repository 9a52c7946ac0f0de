import type { KubeObject } from "../object.ts";
import { intern } from "./intern.ts";

/** In which `kubectl apply` keeps the manifest that it has applied. */
export const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** A copy without managedFields and the last-applied annotation: together they are often larger than all the rest. */
export function withoutManagedFields<T extends KubeObject>(object: T): T {
  const { managedFields: _, ...metadata } = object.metadata as T["metadata"] & { managedFields?: unknown };
  if (metadata.annotations?.[LAST_APPLIED] !== undefined) {
    const { [LAST_APPLIED]: _dropped, ...annotations } = metadata.annotations;
    metadata.annotations = annotations;
  }
  return { ...object, metadata };
}

/** A deeply frozen copy without managedFields. Nested values are those of `object`; equal strings are shared. */
export function freeze<T extends KubeObject>(object: T): T {
  const copy = withoutManagedFields(object);
  const { metadata } = copy;
  if (metadata.namespace !== undefined) metadata.namespace = intern(metadata.namespace);
  return deepFreeze({ ...copy, apiVersion: intern(copy.apiVersion), kind: intern(copy.kind) });
}

/** Values may be nested as deep as somebody likes, so this does not call itself. */
function deepFreeze<T>(value: T): T {
  const open: object[] = isOpen(value) ? [value] : [];
  for (let one = open.pop(); one; one = open.pop()) {
    // it may be in several places
    if (!isOpen(one)) continue;
    if (Array.isArray(one)) internTexts(one);
    Object.freeze(one);
    for (const member of Object.values(one)) if (isOpen(member)) open.push(member);
  }
  return value;
}

/** Most objects of a kind have the same strings in their conditions and finalizers. */
function internTexts(list: unknown[]): void {
  for (let index = 0; index < list.length; index += 1) {
    const item = list[index];
    if (typeof item === "string") list[index] = intern(item);
    else if (isOpen(item) && !Array.isArray(item)) internMembers(item);
  }
}

function internMembers(item: Record<string, unknown>): void {
  for (const name of Object.keys(item)) {
    const text = item[name];
    if (typeof text === "string") item[name] = intern(text);
  }
}

const isOpen = (item: unknown): item is Record<string, unknown> =>
  typeof item === "object" && item !== null && !Object.isFrozen(item);
