import * as z from "zod";
import { enabled, module, refsTo } from "../fields.ts";

export const mutualTLSModule = module(
  z.object({
    enabled,
    certificateAuthorityRefs: refsTo("CertificateAuthority", {
      sends: "certificate_authority_ids",
      returns: "certificate_authorities",
      exposes: true,
    }).describe("Authorities whose client certificates are accepted."),
  }),
  { onRemove: "disable" },
).describe("Asks clients for a certificate. Removing it switches the module off.");
