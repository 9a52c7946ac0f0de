import * as z from "zod";
import { sshHostCertificates } from "../gateway/resources/index.ts";
import { dateOf, textColumn } from "../schema/columns.ts";
import { type Answer, defineKind } from "../schema/define.ts";
import { durationPattern, durationSeconds } from "../schema/duration.ts";
import {
  form,
  instant,
  matching,
  outputSecret,
  sshPublicKey,
  texts,
  timestamp,
  unmanagedID,
  unordered,
} from "../schema/fields.ts";
import { hasNotBoth, isBefore } from "../schema/rules.ts";
import { text } from "../schema/status.ts";
import { mark } from "../schema/traits.ts";

const createOnly = <S extends z.ZodType>(schema: S): S => mark(schema, { createOnly: true });
const principal = matching(
  z.string().min(1).max(253),
  /^[^\s\p{Cc}/,]+$/u,
  "must be a host name or an IP address, without scheme, path or space",
);
const time = mark(instant, { createOnly: true, serverDefault: true, normalize: timestamp });

/**
 * `renewBefore` before the end, or else after two thirds of the validity. Counts from the creation of the certificate
 * if `valid_after` is earlier: otherwise a start long ago would make the operator renew again and again. Undefined if
 * the spec sets the end.
 */
function renewsAt(answer: Answer, spec: Readonly<Record<string, unknown>>): number | undefined {
  if (spec["validUntil"] !== undefined) return undefined;
  const time = (member: string) => Date.parse(String(answer[member]));
  const from = Math.max(time("valid_after"), time("created_at") || Number.NEGATIVE_INFINITY);
  const until = time("valid_until");
  if (!Number.isFinite(from) || !Number.isFinite(until)) return undefined;
  const before = spec["renewBefore"] as string | undefined;
  // a `renewBefore` longer than the validity would make the operator renew again and again
  const ahead =
    before === undefined ? (until - from) / 3 : Math.min(durationSeconds(before) * 1000, (until - from) * 0.9);
  return until - ahead;
}

export const SSHHostCertificate = defineKind({
  kind: "SSHHostCertificate",
  shortNames: ["gwshc"],
  privilege: "A certificate with which a host passes for any host of the account's SSH authorities.",
  categories: ["tunnelgateway-certificates"],
  summary: "A certificate for the key of an SSH host, signed by the service and renewed before it ends.",
  resource: sshHostCertificates,
  replacement: "CreateFirst",
  renewsAt,
  validity: {
    from: "validAfter",
    until: "validUntil",
    remedy: ({ validUntil }) => (validUntil ? "Set a later spec.validUntil" : "Waiting for the renewal"),
  },
  output: { field: "certificateSecretName", key: "ssh-host-cert.pub", member: "certificate" },
  spec: z.object({
    ...texts,
    sshCertificateAuthorityId: createOnly(unmanagedID("sshca_")).describe("Id of the SSH authority that signs."),
    publicKey: createOnly(sshPublicKey).describe("Public key of the host, in authorized-keys format."),
    principals: mark(z.array(principal).max(256), { createOnly: true, normalize: unordered })
      .optional()
      .describe("Host names and addresses that may use the certificate. Unset: any."),
    validAfter: time.optional().describe("Start of the validity, in RFC 3339. Default: now."),
    validUntil: time
      .optional()
      .describe(
        "End of the validity, in RFC 3339: the certificate is not renewed then. Default: a year from now, renewed.",
      ),
    renewBefore: mark(
      matching(z.string().max(32), durationPattern, "must be a duration in hours, minutes and seconds, such as 720h"),
      { notInBody: true, rules: [form(/[1-9]/, "must be longer than nothing, such as 720h")] },
    )
      .optional()
      .describe("How long before its end the certificate is renewed, such as 720h. Default: a third of its validity."),
    certificateSecretName: outputSecret("key `ssh-host-cert.pub` holds the signed certificate").optional(),
  }),
  rules: [
    {
      rule: "!(has(self.validUntil) && has(self.renewBefore))",
      message: "must not set both `validUntil` and `renewBefore`: a certificate with a fixed end is not renewed",
      fieldPath: ".renewBefore",
      holds: hasNotBoth("validUntil", "renewBefore"),
    },
    {
      rule: "!has(self.validAfter) || !has(self.validUntil) || timestamp(self.validAfter) < timestamp(self.validUntil)",
      message: "must have `validUntil` after `validAfter`",
      fieldPath: ".validUntil",
      holds: ({ validAfter, validUntil }: { validAfter?: string; validUntil?: string }) =>
        validAfter === undefined || validUntil === undefined || isBefore(validAfter, validUntil),
    },
  ],
  status: z.object({
    keyType: text("rsa, ecdsa or ed25519."),
    certificate: text("The signed certificate, in authorized-keys format."),
    validAfter: text("Start of the validity, in RFC 3339."),
    validUntil: text("End of the validity, in RFC 3339."),
  }),
  columns: [
    textColumn("Principals", { width: 24, value: ({ spec }) => spec["principals"] }),
    textColumn("Expires", { width: 10, value: ({ status }) => dateOf(status["validUntil"]) }),
    textColumn("Secret", { width: 24, value: ({ spec }) => spec["certificateSecretName"], wide: true }),
  ],
});
