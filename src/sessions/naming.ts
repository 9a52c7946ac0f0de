import { createHash } from "node:crypto";

const digestOf = (text: string, characters: number): string =>
  createHash("sha256").update(text).digest("hex").slice(0, characters);

/**
 * The name of a session's object: a DNS label, always the same for the same id and account. Two ids can have the same
 * readable part, since ids are case-sensitive and contain underscores; the digest tells them apart. `account`: the
 * GatewayAccount; two of one namespace may lead to the same account, and each has objects of its own.
 */
export function sessionName(id: string, account?: string): string {
  const readable = id
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 48)
    .replace(/^-|-$/g, "");
  return `${readable || "session"}-${digestOf(account === undefined ? id : `${account}/${id}`, 12)}`;
}

/** The name of a GatewayAccount as a label value. A longer one than a label may have is cut, and gets a digest. */
export const accountLabel = (account: string): string =>
  account.length <= 63 ? account : `${account.slice(0, 50)}-${digestOf(account, 12)}`;

/** The text as a valid label value: `svc/v2` becomes `svc-v2`. Undefined if no valid character is left. */
export function labelValue(text: string | null | undefined): string | undefined {
  const safe = (text ?? "")
    .replace(/[^A-Za-z0-9._-]+/g, "-")
    .slice(0, 63)
    .replace(/^[._-]+|[._-]+$/g, "");
  return safe || undefined;
}

/** Identifies an agent by parts of its session that stay the same when it reconnects. */
export const agentDigest = (parts: readonly (string | null | undefined)[]): string =>
  digestOf(JSON.stringify(parts.map((part) => part ?? "")), 16);
