import { certificatePem, extendedKeyUsages, keyUsages, leafOf, nameParts, validity } from "../certificates/x509.ts";
import { type CollectionContext, defineCollection } from "../resource/collection.ts";
import type { Members } from "../shape/members.ts";
import { texts } from "../shape/texts.ts";
import { days, stamp } from "../shape/time.ts";

function read({ ca_pem: pem }: Members, { clock }: CollectionContext): Members {
  const certificate = leafOf(String(pem));
  if (!certificate) return unreadable(clock());
  return {
    subject_common_name: nameParts(certificate.subject).CN ?? "",
    ...validity(certificate),
    key_usages: keyUsages(certificate),
    extended_key_usages: extendedKeyUsages(certificate),
  };
}

const unreadable = (now: number): Members => ({
  subject_common_name: "",
  not_before: stamp(now),
  not_after: stamp(now + days(3650)),
  key_usages: [],
  extended_key_usages: [],
});

export const certificateAuthorities = defineCollection({
  name: "certificate_authorities",
  prefix: "ca",
  verbs: { create: "documented", get: "documented", list: "documented", update: "undocumented", delete: "documented" },
  unset: ["missing", "null"],
  fields: { ...texts, ca_pem: { check: certificatePem, required: true, createOnly: true } },
  compute: read,
});
