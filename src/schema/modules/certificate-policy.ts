import * as z from "zod";
import { mark } from "../traits.ts";

/** The member of an answer about the certificate that the service manages for a domain. */
export const certificateManagementStatus = z
  .object({
    renewsAt: z.string().optional().describe("When the next renewal will be requested, in RFC 3339."),
    provisioningJob: z
      .object({
        errorCode: z.string().optional().describe("Why provisioning fails: INTERNAL_ERROR or DNS_ERROR."),
        msg: z.string().optional().describe("Status or error in the service's words."),
        startedAt: z.string().optional().describe("When the job started, in RFC 3339."),
        retriesAt: z.string().optional().describe("When the job will be tried again, in RFC 3339."),
      })
      .optional()
      .describe("Present while a certificate is provisioned or renewed."),
  })
  .optional()
  .describe("Automatic certificate management, as the service reports it.");

export const certificateManagementPolicy = mark(
  z.object({
    authority: z.enum(["freeca"]).default("freeca").describe("Certificate authority. The only value is freeca."),
    privateKeyType: z.enum(["rsa", "ecdsa"]).default("rsa").describe("Type of the private key. Default: rsa."),
  }),
  { excludes: "certificate_id" },
)
  .optional()
  .describe("Lets the service obtain and renew a certificate. Unset: no automatic management.");
