import * as z from "zod";
import { defineResource } from "../gateway/resource.ts";
import { eventSources, eventSubscriptions } from "../gateway/resources/index.ts";
import { refText, textColumn } from "../schema/columns.ts";
import { defineKind } from "../schema/define.ts";
import { immutable, refTo } from "../schema/fields.ts";
import { eventType } from "./event-subscription.ts";

export const EventSource = defineKind({
  kind: "EventSource",
  shortNames: ["gwesrc"],
  categories: ["tunnelgateway-events"],
  summary:
    "One event type of an event subscription, beside those that the subscription lists itself. A type that is there " +
    "already is shared; it goes when the last object that wants it goes, and stays if it was there before all of them.",
  resource: defineResource({
    ...eventSources,
    title: "event source",
    idPrefix: "esb_",
    wire: eventSources.wire.extend({ id: z.string(), subscription_id: z.string() }),
    create: ["subscription_id", "type"],
    update: [],
  }),
  location: {
    type: "entry",
    idFields: ["subscriptionRef", "type"],
    parent: { kind: "EventSubscription", resource: eventSubscriptions, list: "sources" },
    parentMember: "subscription_id",
    keyMember: "type",
  },
  spec: z.object({
    subscriptionRef: refTo("EventSubscription", { sends: "subscription_id", immutable: true }).describe(
      "The subscription that gets the type.",
    ),
    type: immutable(eventType).describe("Event type, named <thing>_<action>.v<N>, such as ip_policy_created.v0."),
  }),
  columns: [
    textColumn("Type", { width: 30, value: ({ spec }) => spec["type"] }),
    textColumn("Subscription", { width: 24, value: ({ spec }) => refText(spec["subscriptionRef"]) }),
  ],
});
