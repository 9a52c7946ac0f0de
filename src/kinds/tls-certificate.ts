import * as z from "zod";
import { tlsCertificates } from "../gateway/resources/index.ts";
import { dateOf, textColumn } from "../schema/columns.ts";
import { defineKind } from "../schema/define.ts";
import { secretName, texts } from "../schema/fields.ts";
import { certificateFacts, certificateValidity, keyPairProblem, pem } from "../schema/pem.ts";
import { countOfMore, firstOf, text } from "../schema/status.ts";

export const TLSCertificate = defineKind({
  kind: "TLSCertificate",
  shortNames: ["gwcert"],
  categories: ["tunnelgateway-certificates"],
  summary:
    "An uploaded certificate with its private key. When its Secret is renewed, the new one is uploaded, " +
    "everything that refers to this object moves to it, and then the old one is deleted.",
  resource: tlsCertificates,
  replacement: "CreateFirst",
  // one that was issued for the policy of a domain
  isMadeByService: ({ issued_at }) => typeof issued_at === "string" && issued_at !== "",
  validity: { ...certificateValidity, remedy: ({ secretName }) => `Renew the certificate in Secret "${secretName}"` },
  spec: z.object({
    ...texts,
    secretName: secretName(
      "Name of a Secret of type kubernetes.io/tls in this namespace, as cert-manager writes it: `tls.crt` holds the " +
        "chain, leaf first, and `tls.key` the private key.",
      {
        members: {
          certificate_pem: { key: "tls.crt", normalize: pem },
          private_key_pem: { key: "tls.key", secret: true },
        },
        problemOf: keyPairProblem,
      },
    ),
  }),
  status: z.object({
    ...certificateFacts,
    subjectAlternativeNames: z
      .object({
        dnsNames: firstOf("DNS names, with wildcards."),
        dnsNameCount: countOfMore("dns_names", "How many DNS names there are."),
        ips: firstOf("IP addresses."),
        ipCount: countOfMore("ips", "How many IP addresses there are."),
      })
      .optional()
      .describe("Subject alternative names."),
    issuedAt: text("When it was issued automatically; unset for an uploaded one."),
    privateKeyType: text("rsa, ecdsa or ed25519."),
    issuerCommonName: text("Common name of the issuer."),
    serialNumber: text("Serial number."),
    subjectOrganization: text("Organization of the subject."),
    subjectOrganizationalUnit: text("Organizational unit of the subject."),
    subjectLocality: text("Locality of the subject."),
    subjectProvince: text("Province of the subject."),
    subjectCountry: text("Country of the subject."),
  }),
  columns: [
    textColumn("Subject", { width: 24, value: ({ status }) => status["subjectCommonName"] }),
    textColumn("Expires", { width: 10, value: ({ status }) => dateOf(status["notAfter"]) }),
    textColumn("Secret", { width: 24, value: ({ spec }) => spec["secretName"], wide: true }),
  ],
});
