import { createHmac, createSecretKey, hash, randomBytes } from "node:crypto";

/** Equal for values that are equal as JSON: unset members and the order of members make no difference. */
export const digestOf = (value: unknown): string => hash("sha256", textOf(value), "hex").slice(0, 16);

/** A key of Node, because bytes would be made one at each digest, which takes six times as long. */
const PROCESS_SECRET = createSecretKey(randomBytes(32));

/** The same for what has values of Secrets. Nobody can test guesses of them by it, and it means nothing to another process. */
export const confidentialDigestOf = (value: unknown): string =>
  createHmac("sha256", PROCESS_SECRET).update(textOf(value)).digest("base64");

const textOf = (value: unknown): string =>
  JSON.stringify(value, (_, member) => (isMap(member) ? sorted(member) : member));

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const sorted = (map: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1)));
