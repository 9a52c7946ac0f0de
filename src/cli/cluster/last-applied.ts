import type { ManagedObject } from "../../objects/object.ts";
import { isObject } from "../../plan/field-changes.ts";
import { LAST_APPLIED } from "../../runtime/cache/freeze.ts";

/** The manifest that was applied last. Undefined: none was, or the text, which anybody may edit, is none. */
export function lastAppliedTo({ metadata }: ManagedObject): Readonly<Record<string, unknown>> | undefined {
  try {
    const manifest: unknown = JSON.parse(metadata.annotations?.[LAST_APPLIED] ?? "");
    return isObject(manifest) && isObject(manifest["metadata"]) ? manifest : undefined;
  } catch {
    return undefined;
  }
}
