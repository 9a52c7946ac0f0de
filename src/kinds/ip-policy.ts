import * as z from "zod";
import { ipPolicies } from "../gateway/resources/index.ts";
import { defineKind } from "../schema/define.ts";
import { texts } from "../schema/fields.ts";

export const IPPolicy = defineKind({
  kind: "IPPolicy",
  plural: "ippolicies",
  shortNames: ["gwipp"],
  summary:
    "A set of rules for IP addresses. It affects no traffic until an edge or a route refers to it. " +
    "Its rules are managed outside this operator.",
  resource: ipPolicies,
  spec: z.object(texts),
  columns: [{ name: "Description", jsonPath: ".spec.description" }],
});
