import type { KubeObject } from "./object.ts";

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

/** A copy without what only the API server and kubectl need, frozen to the bottom; nested values are shared. */
export function freeze<T extends KubeObject>(object: T): T {
  const { managedFields: _, ...metadata } = object.metadata as T["metadata"] & { managedFields?: unknown };
  if (metadata.annotations?.[lastApplied] !== undefined) {
    const { [lastApplied]: _dropped, ...annotations } = metadata.annotations;
    metadata.annotations = annotations;
  }
  return deepFreeze({ ...object, metadata });
}

export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const member of Object.values(value)) deepFreeze(member);
  return value;
}
