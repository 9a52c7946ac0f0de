import * as z from "zod";
import { enabled, module, secretKey } from "../fields.ts";

export const webhookVerificationModule = module(
  z.object({
    enabled,
    provider: z.string().min(1).max(64).describe("Who sends the webhooks, by the service's name for it."),
    secretRef: secretKey("the secret that the provider signs with; one provider has none", {
      sends: "secret",
    }).optional(),
  }),
  { onRemove: "delete", told: ["provider"] },
).describe("Admits only requests that this webhook provider has signed. Removing it removes the module.");
