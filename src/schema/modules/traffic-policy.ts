import * as z from "zod";
import { enabled, module } from "../fields.ts";

const action = z.object({
  type: z.string().min(1).max(128).describe("What to do, in the service's words."),
  config: z.record(z.string(), z.unknown()).optional().describe("Settings of the action, sent as they are."),
});

const rule = z.object({
  name: z.string().max(255).optional().describe("Name of the rule."),
  expressions: z
    .array(z.string().max(4096))
    .max(32)
    .optional()
    .describe("CEL expressions that select the traffic the rule applies to."),
  actions: z.array(action).max(32).describe("What happens to the selected traffic, in this order."),
});

const trafficPolicy = z.object({
  enabled,
  inbound: z.array(rule).max(64).optional().describe("Rules for traffic that arrives, in this order."),
  outbound: z.array(rule).max(64).optional().describe("Rules for traffic that leaves, in this order."),
});

const removal = { delete: "removes the policy of the edge", disable: "switches the module off" };

/** `onRemove`: "delete" if the service can delete this module, "disable" if it can only switch it off. */
export const trafficPolicyModule = (onRemove: "delete" | "disable") =>
  module(trafficPolicy, { onRemove, told: ["inbound", "outbound"] }).describe(
    `Rules for traffic in either direction. Removing it from the spec ${removal[onRemove]}.`,
  );
