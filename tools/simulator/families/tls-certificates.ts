import type { X509Certificate } from "node:crypto";
import { selfSigned } from "../certificates/self-signed.ts";
import {
  alternativeNames,
  certificatePem,
  extendedKeyUsages,
  keyOf,
  keyTypeOf,
  keyUsages,
  leafOf,
  nameParts,
  privateKeyPem,
  validity,
} from "../certificates/x509.ts";
import { invalid } from "../http/refusal.ts";
import { type CollectionContext, defineCollection, type Row } from "../resource/collection.ts";
import type { Store } from "../resource/store.ts";
import type { Members } from "../shape/members.ts";
import { texts } from "../shape/texts.ts";
import { days, stamp } from "../shape/time.ts";

function subject(parts: Readonly<Record<string, string>>): Members {
  return {
    subject_common_name: parts.CN ?? "",
    subject_organization: parts.O ?? "",
    subject_organizational_unit: parts.OU ?? "",
    subject_locality: parts.L ?? "",
    subject_province: parts.ST ?? "",
    subject_country: parts.C ?? "",
  };
}

const readable = (leaf: X509Certificate): Members => ({
  ...subject(nameParts(leaf.subject)),
  subject_alternative_names: alternativeNames(leaf),
  ...validity(leaf),
  key_usages: keyUsages(leaf),
  extended_key_usages: extendedKeyUsages(leaf),
  private_key_type: keyTypeOf(leaf.publicKey) ?? "rsa",
  issuer_common_name: nameParts(leaf.issuer).CN ?? "",
  serial_number: leaf.serialNumber.toLowerCase(),
});

const unreadable = (now: number): Members => ({
  ...subject({}),
  subject_alternative_names: { dns_names: [], ips: [] },
  not_before: stamp(now),
  not_after: stamp(now + days(90)),
  key_usages: [],
  extended_key_usages: [],
  private_key_type: "rsa",
  issuer_common_name: "",
  serial_number: "00",
});

function read({ certificate_pem: pem }: Members, { clock }: CollectionContext): Members {
  const leaf = leafOf(String(pem));
  return { issued_at: null, ...(leaf ? readable(leaf) : unreadable(clock())) };
}

export const tlsCertificates = defineCollection({
  name: "tls_certificates",
  prefix: "cert",
  verbs: { create: "documented", get: "documented", list: "documented", update: "undocumented", delete: "documented" },
  unset: ["empty", "missing"],
  nextPage: "path",
  fields: {
    ...texts,
    certificate_pem: { check: certificatePem, required: true, createOnly: true },
    private_key_pem: { check: privateKeyPem, required: true, createOnly: true },
  },
  rule({ certificate_pem: pem, private_key_pem: key }) {
    const [leaf, secret] = [leafOf(String(pem)), keyOf(String(key))];
    if (leaf && secret && !leaf.checkPrivateKey(secret)) {
      throw invalid("private_key_pem: does not match the leaf of certificate_pem");
    }
  },
  compute: read,
  show: ({ private_key_pem: _, ...members }) => members,
});

/** Issues the certificate of a reserved domain that has a certificate policy. Returns its id. */
export function issueCertificate(
  { members: { domain, certificate_management_policy: policy } }: Row,
  at: Issuing,
): string {
  const now = at.clock();
  const keyType = (policy as { private_key_type: "rsa" | "ecdsa" }).private_key_type;
  const { certificatePem: pem } = selfSigned({
    commonName: String(domain),
    dnsNames: [String(domain)],
    notBefore: new Date(now),
    keyType,
  });
  const leaf = leafOf(pem);
  const members = { certificate_pem: pem, issued_at: stamp(now), ...(leaf && readable(leaf)) };
  return at.store.add(tlsCertificates, members).id;
}

interface Issuing {
  readonly store: Store;
  readonly clock: () => number;
}
