import { defineResource } from "../resource.ts";
import { answer, common, part, text, texts } from "../wire.ts";

const textsOnly = ["description", "metadata"];

export const certificateAuthorities = defineResource({
  name: "certificate_authorities",
  title: "certificate authority",
  idPrefix: "ca_",
  wire: answer({
    ...common,
    ca_pem: text,
    subject_common_name: text,
    not_before: text,
    not_after: text,
    key_usages: texts,
    extended_key_usages: texts,
  }),
  create: ["description", "metadata", "ca_pem"],
  update: [],
  updateUndocumented: textsOnly,
  verbs: { update: "undocumented" },
});

/** No answer has the private key. `issued_at` is null for an uploaded certificate. */
export const tlsCertificates = defineResource({
  name: "tls_certificates",
  title: "TLS certificate",
  idPrefix: "cert_",
  wire: answer({
    ...common,
    certificate_pem: text,
    subject_common_name: text,
    subject_alternative_names: part({ dns_names: texts, ips: texts }),
    issued_at: text,
    not_before: text,
    not_after: text,
    key_usages: texts,
    extended_key_usages: texts,
    private_key_type: text,
    issuer_common_name: text,
    serial_number: text,
    subject_organization: text,
    subject_organizational_unit: text,
    subject_locality: text,
    subject_province: text,
    subject_country: text,
  }),
  create: ["description", "metadata", "certificate_pem", "private_key_pem"],
  update: [],
  updateUndocumented: textsOnly,
  secrets: ["private_key_pem"],
  verbs: { update: "undocumented" },
});
