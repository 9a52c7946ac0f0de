import * as z from "zod";
import { enabled, module } from "../fields.ts";
import { mark } from "../traits.ts";

export const tlsTerminationModule = module(
  z.object({
    enabled,
    terminateAt: mark(z.enum(["edge", "upstream"]), { serverDefault: true })
      .optional()
      .describe("`edge`: TLS ends at the service. `upstream`: it is passed through to the agent or application."),
    minVersion: mark(z.string().min(1).max(16), { serverDefault: true })
      .optional()
      .describe("Lowest TLS version. Unset: the service chooses a safe one. Only with `edge`."),
  }),
  { onRemove: "disable", told: ["terminateAt", "minVersion"] },
).describe("Where TLS ends. Removing it switches the module off.");
