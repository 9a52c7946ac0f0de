import * as z from "zod";
import { defineResource } from "../resource.ts";
import { answer, common, part, refs, text } from "../wire.ts";

/** Exactly one of the two members is set. */
const cloudAuth = part({
  role: part({ role_arn: text }),
  creds: part({ cloud_access_key_id: text, cloud_secret_access_key: text }),
});

/** Exactly one member is set. */
const target = part({
  delivery: part({ auth: cloudAuth, delivery_stream_arn: text }),
  stream: part({ auth: cloudAuth, stream_arn: text }),
  logs: part({ auth: cloudAuth, log_group_arn: text }),
  monitoring: part({ api_key: text, ddtags: text, service: text, ddsite: text }),
});

/** A destination has no effect until a subscription refers to it. */
export const eventDestinations = defineResource({
  name: "event_destinations",
  title: "event destination",
  idPrefix: "ed_",
  wire: answer({ ...common, format: text, target }),
  create: ["description", "metadata", "format", "target"],
  // the API page says that it is not stated whether PATCH takes more members
  update: ["description", "metadata"],
  updateUndocumented: ["format", "target"],
  secrets: ["cloud_secret_access_key", "api_key"],
});

const subscriptionMembers = ["description", "metadata", "sources", "destination_ids"];

/** One event type of a subscription. It has no id; its type identifies it. */
export const eventSource = answer({ type: z.string().min(1), uri: text });

export const eventSubscriptions = defineResource({
  name: "event_subscriptions",
  title: "event subscription",
  idPrefix: "esb_",
  wire: answer({ ...common, sources: z.array(eventSource).nullish(), destinations: refs }),
  create: subscriptionMembers,
  update: subscriptionMembers,
});

/** Adds or removes one event type of a subscription, without the need to send its whole list. */
export const eventSources = {
  name: "event_sources",
  path: "/event_subscriptions/{subscription_id}/sources",
  listKey: "sources",
  wire: eventSource,
  verbs: { create: "documented", list: "documented", get: "documented", update: "documented", delete: "documented" },
} as const;

export type EventSource = z.output<typeof eventSource>;
