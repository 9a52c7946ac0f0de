import * as z from "zod";
import { enabled, module, refsTo } from "../fields.ts";

const ipRestriction = z.object({
  enabled,
  ipPolicyRefs: refsTo("IPPolicy", { sends: "ip_policy_ids", returns: "ip_policies", exposes: true }).describe(
    "Policies that decide which addresses are admitted.",
  ),
});

const what = "Admits only the addresses that these policies allow.";

export const ipRestrictionModule = module(ipRestriction, { onRemove: "disable" }).describe(
  `${what} Removing it switches the module off.`,
);

export const routeIPRestrictionModule = module(ipRestriction, { onRemove: "delete" }).describe(
  `${what} Removing it removes the module.`,
);
