import { defineResource } from "../resource.ts";
import { answer, common, optionalRef, text } from "../wire.ts";
import { certificateManagementPolicy, certificateManagementStatus } from "./certificate-management.ts";

/** `certificate_id` and `certificate_management_policy` exclude each other. */
export const reservedDomains = defineResource({
  name: "reserved_domains",
  title: "reserved domain",
  idPrefix: "rd_",
  wire: answer({
    ...common,
    domain: text,
    region: text,
    cname_target: text,
    certificate: optionalRef,
    certificate_management_policy: certificateManagementPolicy,
    certificate_management_status: certificateManagementStatus,
    acme_challenge_cname_target: text,
    http_endpoint_configuration: optionalRef,
    https_endpoint_configuration: optionalRef,
  }),
  create: ["domain", "region", "description", "metadata", "certificate_id", "certificate_management_policy"],
  update: [],
  updateUndocumented: ["description", "metadata", "certificate_id", "certificate_management_policy"],
  verbs: { update: "undocumented" },
});
