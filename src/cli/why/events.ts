import type { KubeClient } from "../../runtime/connection/client.ts";
import { isForbidden } from "../../runtime/connection/errors.ts";
import type { KubeObject, ResourceType } from "../../runtime/object.ts";

/** Something that happened to an object. */
export interface ObjectEvent {
  /** When it happened last. */
  last: string;
  /** How often, so far. */
  count: number;
  type: string;
  reason: string;
  message: string;
}

/** The form of events that kubectl reads too, and that a role which may view a namespace includes. */
export const events: ResourceType = { group: "", version: "v1", plural: "events", kind: "Event" };

export type Event = KubeObject & {
  type?: string;
  reason?: string;
  message?: string;
  count?: number;
  eventTime?: string | null;
  lastTimestamp?: string | null;
  series?: { count: number; lastObservedTime: string };
};

/** The events of an object, newest first. A problem is added where they may not be read. */
export async function eventsOf(
  client: Pick<KubeClient, "listAll">,
  { metadata: { namespace, uid } }: Pick<KubeObject, "metadata">,
  problems: string[],
): Promise<ObjectEvent[]> {
  try {
    const { items } = await client.listAll<Event>(events, { namespace, fieldSelector: `involvedObject.uid=${uid}` });
    return items.map(toObjectEvent).sort((one, other) => Date.parse(other.last) - Date.parse(one.last));
  } catch (error) {
    if (!isForbidden(error)) throw error;
    problems.push(`You need the right to list events in namespace ${namespace}`);
    return [];
  }
}

export function toObjectEvent({ metadata, series, eventTime, lastTimestamp, ...event }: Event): ObjectEvent {
  const { type = "", reason = "", message = "" } = event;
  const last = series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? "";
  return { last, count: series?.count ?? event.count ?? 1, type, reason, message };
}
