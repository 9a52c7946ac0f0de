import { defineCollection } from "../resource/collection.ts";
import { hostname } from "../shape/names.ts";
import { texts } from "../shape/texts.ts";
import { certificatePolicy, followPolicy, unmanaged } from "./certificate-policy.ts";

export const agentIngresses = defineCollection({
  name: "agent_ingresses",
  prefix: "agin",
  listKey: "ingresses",
  unset: ["missing", "null"],
  uri: "path",
  nextPage: "path",
  unique: "domain",
  fields: {
    ...texts,
    domain: { check: hostname, required: true, createOnly: true },
    certificate_management_policy: { check: certificatePolicy },
  },
  compute: (members) => ({
    ...unmanaged,
    ...members,
    ns_targets: ["ns-1.gateway-dns.example", "ns-2.gateway-dns.example"],
    region_domains: ["us", "eu", "ap"].map((region) => `tunnel.${region}.${members.domain}`),
  }),
  changed: followPolicy,
  show: ({ issued_id: _, ...members }) => members,
});
