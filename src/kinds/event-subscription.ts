import * as z from "zod";
import { eventSubscriptions } from "../gateway/resources/index.ts";
import { textColumn } from "../schema/columns.ts";
import { defineKind } from "../schema/define.ts";
import { matching, refsTo, textsInCharacters, unordered } from "../schema/fields.ts";
import { countOf, remoteRefs } from "../schema/status.ts";
import { mark, type Rule } from "../schema/traits.ts";

export const eventType = matching(
  // longer than any type, and short enough for the API server to compare 256 of them with each other
  z.string().min(1).max(100),
  /^[a-z][a-z0-9_]*\.v[0-9]+$/,
  "must be an event type, <thing>_<action>.v<N>, such as ip_policy_created.v0",
).describe("Event type, named <thing>_<action>.v<N>, such as ip_policy_created.v0.");

/** The service knows a source by its type. */
const eachOnce: Rule = {
  rule: "self.all(one, self.exists_one(other, other.type == one.type))",
  message: "must name each type once",
  holds: (self: readonly { type: string }[]) => new Set(self.map(({ type }) => type)).size === self.length,
  reason: "FieldValueDuplicate",
};

export const EventSubscription = defineKind({
  kind: "EventSubscription",
  shortNames: ["gwes"],
  categories: ["tunnelgateway-events"],
  summary: "Sends chosen types of account events to event destinations.",
  resource: eventSubscriptions,
  spec: z.object({
    ...textsInCharacters,
    sources: mark(z.array(z.object({ type: eventType })).max(256), {
      normalize: unordered,
      rules: [eachOnce],
      shared: { key: "type", kind: "EventSource" },
    })
      .optional()
      .describe("Event types that trigger the subscription. Those that others have added to it are left there."),
    destinationRefs: refsTo("EventDestination", { sends: "destination_ids", returns: "destinations" })
      .optional()
      .describe("Destinations that receive the events."),
  }),
  status: z.object({
    destinations: remoteRefs("Destinations that receive the events."),
    destinationCount: countOf("destinations", "How many destinations receive the events."),
  }),
  columns: [
    textColumn("Sources", {
      width: 40,
      value: ({ spec }) => (spec["sources"] as { type: string }[] | undefined)?.map(({ type }) => type),
    }),
  ],
});
