import { createHash } from "node:crypto";

const digestOf = (text: string, characters: number): string =>
  createHash("sha256").update(text).digest("hex").slice(0, characters);

/**
 * The name of the object of a session: a DNS label, always the same for the same id. Ids differ in case and have
 * underscores, so the readable part alone could be that of two; the digest is of the exact id.
 */
export function sessionName(id: string): string {
  const readable = id
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 48)
    .replace(/^-|-$/g, "");
  return `${readable || "session"}-${digestOf(id, 12)}`;
}

/** A text as a label can have it: `svc/v2` is `svc-v2`. Undefined when nothing is left. */
export function labelValue(text: string | null | undefined): string | undefined {
  const safe = (text ?? "")
    .replace(/[^A-Za-z0-9._-]+/g, "-")
    .slice(0, 63)
    .replace(/^[._-]+|[._-]+$/g, "");
  return safe || undefined;
}

/** Tells agents apart, as far as their sessions do: what stays the same when an agent reconnects. */
export const agentDigest = (parts: readonly (string | null | undefined)[]): string =>
  digestOf(JSON.stringify(parts.map((part) => part ?? "")), 16);
