import type { KubeObject } from "../object.ts";
import { sharedText } from "./shared-text.ts";

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

/** Without what only the API server and kubectl need, which is more than all the rest. */
export function lean<T extends KubeObject>(object: T): T {
  const { managedFields: _, ...metadata } = object.metadata as T["metadata"] & { managedFields?: unknown };
  if (metadata.annotations?.[lastApplied] !== undefined) {
    const { [lastApplied]: _dropped, ...annotations } = metadata.annotations;
    metadata.annotations = annotations;
  }
  return { ...object, metadata };
}

/** A lean copy, frozen to the bottom; nested values are shared, and so are texts that other objects have as well. */
export function freeze<T extends KubeObject>(object: T): T {
  const copy = lean(object);
  const { metadata } = copy;
  if (metadata.namespace !== undefined) metadata.namespace = sharedText(metadata.namespace);
  return deepFreeze({ ...copy, apiVersion: sharedText(copy.apiVersion), kind: sharedText(copy.kind) });
}

export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  if (Array.isArray(value)) shareTexts(value);
  Object.freeze(value);
  for (const member of Object.values(value)) deepFreeze(member);
  return value;
}

/** Conditions, finalizers and the like are much the same in all objects of a kind. */
function shareTexts(list: unknown[]): void {
  for (const [index, item] of list.entries()) {
    if (typeof item === "string") list[index] = sharedText(item);
    else if (isOpen(item)) {
      for (const [name, text] of Object.entries(item)) if (typeof text === "string") item[name] = sharedText(text);
    }
  }
}

const isOpen = (item: unknown): item is Record<string, unknown> =>
  typeof item === "object" && item !== null && !Array.isArray(item) && !Object.isFrozen(item);
