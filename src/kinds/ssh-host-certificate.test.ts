import { expect, it } from "vitest";
import { SSHHostCertificate } from "./ssh-host-certificate.ts";

const made = "2026-01-01T00:00:00Z";
const until = "2027-01-01T00:00:00Z";
const day = 86_400_000;

it.each([
  ["two thirds of the validity have passed", { valid_after: made }, {}, Date.parse(made) + (365 * day * 2) / 3],
  ["renewBefore is left", { valid_after: made }, { renewBefore: "720h" }, Date.parse(until) - 30 * day],
  [
    "a tenth has passed, at the earliest",
    { valid_after: made },
    { renewBefore: "99999h" },
    Date.parse(made) + 36.5 * day,
  ],
  [
    "a start long ago does not count",
    { valid_after: "2020-01-01T00:00:00Z" },
    {},
    Date.parse(made) + (365 * day * 2) / 3,
  ],
  ["the end of the spec is final", { valid_after: made }, { validUntil: until }, undefined],
])("a certificate is renewed when %s", (_, answer, spec, expected) => {
  const renewsAt = SSHHostCertificate.renewsAt({ created_at: made, valid_until: until, ...answer }, spec);
  if (expected === undefined) expect(renewsAt).toBeUndefined();
  else expect(Math.abs((renewsAt ?? 0) - expected)).toBeLessThan(1_000);
});
