import * as z from "zod";
import { ipPolicies } from "../gateway/resources/index.ts";
import { textColumn } from "../schema/columns.ts";
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
  isUsedUnlisted: true,
  spec: z.object(texts),
  columns: [textColumn("Description", { width: 40, value: ({ spec }) => spec["description"] })],
});
