import { defineResource } from "../resource.ts";
import { answer, common } from "../wire.ts";

/** One that is deleted while something refers to it still restricts, with no rules. */
export const ipPolicies = defineResource({
  name: "ip_policies",
  title: "IP policy",
  path: "/ip_policies",
  listKey: "ip_policies",
  idPrefix: "ipp_",
  wire: answer(common),
  create: ["description", "metadata"],
  update: ["description", "metadata"],
});
