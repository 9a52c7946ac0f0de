import type { CollectionContext, Row } from "../resource/collection.ts";
import { type Check, object } from "../shape/check.ts";
import type { Members } from "../shape/members.ts";
import { oneOf, orNull } from "../shape/scalars.ts";

/** Null switches automatic certificates off. */
export const certificatePolicy: Check = orNull(
  object({
    authority: { check: oneOf("freeca"), required: true },
    private_key_type: { check: oneOf("rsa", "ecdsa"), initial: "rsa" },
  }),
);

export const unmanaged: Members = { certificate_management_policy: null, certificate_management_status: null };

const policyOf = (row: Row | undefined): string => JSON.stringify(row?.members.certificate_management_policy ?? null);

/** A new or different policy starts a job; a policy that is taken away ends it. */
export function followPolicy(row: Row, before: Row | undefined, context: CollectionContext): void {
  if (policyOf(row) === policyOf(before)) return;
  const jobs = context.certificates;
  row.members.certificate_management_policy ? jobs.start(row) : jobs.stop(row);
}
