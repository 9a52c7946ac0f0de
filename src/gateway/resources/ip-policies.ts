import { defineResource } from "../resource.ts";
import { answer, common } from "../wire.ts";

/** When a policy is deleted while an edge or route refers to it, the restriction stays, with no rules. */
export const ipPolicies = defineResource({
  name: "ip_policies",
  title: "IP policy",
  idPrefix: "ipp_",
  wire: answer(common),
  create: ["description", "metadata"],
  update: ["description", "metadata"],
});
