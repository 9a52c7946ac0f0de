import * as z from "zod";
import { eventDestinations } from "../gateway/resources/index.ts";
import { defineKind } from "../schema/define.ts";
import { secretKey, texts } from "../schema/fields.ts";
import { hasOneOf } from "../schema/rules.ts";
import { mark } from "../schema/traits.ts";

const exactlyOneOf = (names: readonly string[]) => [
  {
    rule: `[${names.map((name) => `has(self.${name})`).join(", ")}].filter(given, given).size() == 1`,
    message: `must set exactly one of ${names.map((name) => `\`${name}\``).join(", ")}`,
    holds: hasOneOf(...names),
  },
];

const resourceName = (what: string) => z.string().min(1).max(2048).describe(`Resource name (ARN) of the ${what}.`);

const auth = mark(
  z.object({
    role: z
      .object({ roleArn: resourceName("role that the service assumes to deliver") })
      .optional()
      .describe("Delivery by a role that the service assumes."),
    creds: z
      .object({
        cloudAccessKeyId: z.string().min(1).max(256).describe("Id of a long-term access key."),
        cloudSecretAccessKeyRef: secretKey("the secret access key", { sends: "cloud_secret_access_key" }),
      })
      .optional()
      .describe("Delivery by long-term access keys."),
  }),
  { rules: exactlyOneOf(["role", "creds"]) },
).describe("How the service authenticates to the target.");

const target = mark(
  z.object({
    delivery: z
      .object({ auth, deliveryStreamArn: resourceName("delivery stream") })
      .optional()
      .describe("A delivery stream."),
    stream: z
      .object({ auth, streamArn: resourceName("stream") })
      .optional()
      .describe("A data stream."),
    logs: z
      .object({ auth, logGroupArn: resourceName("log group") })
      .optional()
      .describe("A log group."),
    monitoring: z
      .object({
        apiKeyRef: secretKey("the API key of the monitoring service", { sends: "api_key" }),
        ddtags: z.string().max(1024).optional().describe("Tags, separated by commas."),
        service: z.string().max(255).optional().describe("Service name that the events carry."),
        ddsite: z.string().max(255).optional().describe("Site to send to."),
      })
      .optional()
      .describe("A monitoring service."),
  }),
  { rules: exactlyOneOf(["delivery", "stream", "logs", "monitoring"]) },
).describe("Where events go: exactly one member.");

export const EventDestination = defineKind({
  kind: "EventDestination",
  shortNames: ["gwed"],
  categories: ["tunnelgateway-events"],
  privilege: "A place where events of the whole account can be sent.",
  summary: "A place outside the service that receives events. It has no effect until a subscription refers to it.",
  resource: eventDestinations,
  spec: z.object({
    ...texts,
    format: z.enum(["json"]).default("json").describe("Serialization of the events. The only value is json."),
    target,
  }),
  columns: [{ name: "Format", jsonPath: ".spec.format" }],
});
