import { invalid } from "../http/refusal.ts";
import { type CollectionContext, defineCollection } from "../resource/collection.ts";
import type { Members } from "../shape/members.ts";
import { domain } from "../shape/names.ts";
import { reference } from "../shape/references.ts";
import { orNull } from "../shape/scalars.ts";
import { texts } from "../shape/texts.ts";
import { certificatePolicy, followPolicy, unmanaged } from "./certificate-policy.ts";
import { region } from "./regions.ts";

/** The service owns the names below this one, so the user needs no DNS records for them. */
const serviceOwned = ".gateway.example";

function targets(name: string, { random }: CollectionContext): Members {
  const custom = !name.endsWith(serviceOwned);
  const target = `${random.text(10).toLowerCase()}.${random.text(5).toLowerCase()}`;
  return {
    cname_target: custom ? `${target}.gateway-cname.example` : null,
    acme_challenge_cname_target: custom && name.startsWith("*.") ? `${target}.acme.gateway-cname.example` : null,
  };
}

export const reservedDomains = defineCollection({
  name: "reserved_domains",
  prefix: "rd",
  verbs: {
    create: "documented",
    get: "documented",
    list: "documented",
    update: "undocumented",
    delete: "documented",
  },
  unset: ["missing", "empty"],
  nextPage: "absolute",
  unique: "domain",
  fields: {
    ...texts,
    domain: { check: domain, required: true, createOnly: true },
    region: { check: orNull(region), createOnly: true, initial: null },
    certificate_id: { check: orNull(reference("cert")) },
    certificate_management_policy: { check: certificatePolicy },
  },
  rule({ certificate_id: id, certificate_management_policy: policy }) {
    if (id && policy) throw invalid("certificate_id and certificate_management_policy are mutually exclusive");
  },
  // setting one of the two unsets the other
  merge: (before, given) => ({
    ...before,
    ...(given.certificate_id ? { certificate_management_policy: null } : {}),
    ...(given.certificate_management_policy ? { certificate_id: before.issued_id ?? null } : {}),
    ...given,
  }),
  compute: (members, context) => ({
    ...unmanaged,
    certificate_id: null,
    issued_id: null,
    ...members,
    ...targets(String(members.domain), context),
  }),
  changed: followPolicy,
  removed: (row, context) => context.certificates.discard(row),
  uses: ({ certificate_id: id }) => (id ? [String(id)] : []),
  show: ({ certificate_id: id, issued_id: _, region: where, ...members }, links) => ({
    ...members,
    region: where ?? "",
    certificate: links.ref(id),
    http_endpoint_configuration: null,
    https_endpoint_configuration: null,
  }),
});
