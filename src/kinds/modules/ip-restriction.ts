import * as z from "zod";
import { enabled, module, refsTo } from "../fields.ts";

export const ipRestrictionModule = module(
  z.object({
    enabled,
    ipPolicyRefs: refsTo("IPPolicy", { sends: "ip_policy_ids", returns: "ip_policies" }).describe(
      "Policies that decide which addresses are admitted.",
    ),
  }),
  { onRemove: "disable" },
).describe("Admits only the addresses that these policies allow. Removing it switches the module off.");
