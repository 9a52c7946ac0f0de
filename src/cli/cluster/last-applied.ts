import type { ManagedObject } from "../../objects/object.ts";
import { isObject } from "../../plan/field-changes.ts";

/** In which `kubectl apply` keeps the manifest that it has applied. */
export const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** The manifest that was applied last. Undefined: none was, or the text, which anybody may edit, is none. */
export function lastAppliedTo({ metadata }: ManagedObject): Readonly<Record<string, unknown>> | undefined {
  try {
    const manifest: unknown = JSON.parse(metadata.annotations?.[LAST_APPLIED] ?? "");
    return isObject(manifest) && isObject(manifest["metadata"]) ? manifest : undefined;
  } catch {
    return undefined;
  }
}
