import { createHash } from "node:crypto";

const digestOf = (text: string, characters: number): string =>
  createHash("sha256").update(text).digest("hex").slice(0, characters);

/**
 * The name of a session's object: a DNS label, always the same for the same id. Two ids can have the same readable
 * part, since ids are case-sensitive and contain underscores; the digest tells them apart.
 */
export function sessionName(id: string): string {
  const readable = id
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 48)
    .replace(/^-|-$/g, "");
  return `${readable || "session"}-${digestOf(id, 12)}`;
}

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
