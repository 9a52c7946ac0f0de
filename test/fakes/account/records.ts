import { ObjectMemory } from "../../../src/account/object-memory.ts";
import type { ObjectRecord } from "../../../src/account/object-record.ts";
import type { ManagedObject } from "../../../src/objects/object.ts";
import type { Clock } from "../../../src/runtime/clock.ts";

/** The records of objects, by their uids. */
export function recordsOf(clock: Clock): (uid: string) => ObjectRecord {
  const memory = new ObjectMemory({ clock, deadlineMs: 30_000 });
  return (uid) => memory.of({ metadata: { uid } } as ManagedObject);
}
