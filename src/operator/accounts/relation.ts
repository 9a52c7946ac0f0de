import type { Credentials } from "./credentials.ts";

/** How the account of other credentials relates to the account in which a remote was created. */
export type Relation = "same" | "other" | "unknown";

/** A key belongs to one account for ever. So a key that the former credentials also had leads to their account. */
export function relationOf(former: Credentials, wanted: Credentials): Relation {
  if (former.baseURL !== wanted.baseURL) return "other";
  const { digest } = wanted;
  if (digest === undefined) return "unknown";
  const { proved } = former.shared.account.keyProof;
  if (former.digest === digest || former.proved.has(digest) || proved.has(digest)) return "same";
  return former.digest === undefined && former.proved.size === 0 && proved.size === 0 ? "unknown" : "other";
}
