import * as z from "zod";
import { certificateAuthorities } from "../gateway/resources/index.ts";
import { dateOf, textColumn } from "../schema/columns.ts";
import { defineKind } from "../schema/define.ts";
import { configMapKey, matching, secretKey, texts } from "../schema/fields.ts";
import { certificateFacts, certificatesProblem, certificateValidity, hasPrivateKey, pem } from "../schema/pem.ts";
import { hasOneOf } from "../schema/rules.ts";
import { mark, type Rule } from "../schema/traits.ts";

const caPemFrom = mark(
  z.object({
    configMapKeyRef: configMapKey("the certificates", {
      sends: "from_config_map",
      problemOfValue: certificatesProblem,
    }).optional(),
    secretKeyRef: secretKey("the certificates", {
      sends: "from_secret",
      problemOfValue: certificatesProblem,
    }).optional(),
  }),
  {
    sends: "ca_pem",
    createOnly: true,
    encode: (from: { from_config_map?: string; from_secret?: string }) => from.from_config_map ?? from.from_secret,
    rules: [
      {
        rule: "has(self.configMapKeyRef) != has(self.secretKeyRef)",
        message: "must set exactly one of `configMapKeyRef` and `secretKeyRef`",
        holds: hasOneOf("configMapKeyRef", "secretKeyRef"),
      },
    ],
  },
);

const caPem = matching(
  z.string().min(1).max(131_072),
  /-----BEGIN ([A-Z0-9]+ )?CERTIFICATE-----[\t\n\r ][A-Za-z0-9+/=\t\n\r ]+-----END ([A-Z0-9]+ )?CERTIFICATE-----/,
  "must have a certificate in PEM, from its line BEGIN CERTIFICATE to its line END CERTIFICATE",
);

const noKey: Rule = {
  rule: "!self.contains('PRIVATE KEY-----')",
  message: "must not have a private key: everybody who may read this object would read it",
  holds: (self: string) => !hasPrivateKey(self),
};

export const CertificateAuthority = defineKind({
  kind: "CertificateAuthority",
  plural: "certificateauthorities",
  shortNames: ["gwca"],
  categories: ["tunnelgateway-certificates"],
  summary:
    "Certificates of an authority that signs client certificates, for mutual TLS. When they change, the new ones are " +
    "uploaded, everything that refers to this object moves to them, and then the old ones are deleted.",
  resource: certificateAuthorities,
  replacement: "CreateFirst",
  validity: {
    ...certificateValidity,
    remedy: ({ caPem }) => `Put certificates that are valid into spec.${caPem ? "caPem" : "caPemFrom"}`,
  },
  spec: z.object({
    ...texts,
    caPem: mark(caPem, { createOnly: true, normalize: pem, rules: [noKey], problemOfValue: certificatesProblem })
      .optional()
      .describe("CA certificates in PEM, one or several."),
    caPemFrom: caPemFrom.optional().describe("Where to read the CA certificates from, in place of `caPem`."),
  }),
  rules: [
    {
      rule: "has(self.caPem) != has(self.caPemFrom)",
      message: "must set exactly one of `caPem` and `caPemFrom`",
      holds: hasOneOf("caPem", "caPemFrom"),
      reason: "FieldValueRequired",
    },
  ],
  status: z.object(certificateFacts),
  columns: [
    textColumn("Subject", { width: 32, value: ({ status }) => status["subjectCommonName"] }),
    textColumn("Expires", { width: 10, value: ({ status }) => dateOf(status["notAfter"]) }),
  ],
});
