import { defineResource } from "../resource.ts";
import { answer, common, text, texts } from "../wire.ts";
import { certificateManagementPolicy, certificateManagementStatus } from "./certificate-management.ts";

export const agentIngresses = defineResource({
  name: "agent_ingresses",
  title: "agent ingress",
  listKey: "ingresses",
  idPrefix: "agin_",
  wire: answer({
    ...common,
    domain: text,
    ns_targets: texts,
    region_domains: texts,
    certificate_management_policy: certificateManagementPolicy,
    certificate_management_status: certificateManagementStatus,
  }),
  create: ["description", "metadata", "domain", "certificate_management_policy"],
  update: ["description", "metadata", "certificate_management_policy"],
});
