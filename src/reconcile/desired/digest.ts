import { createHash } from "node:crypto";

/** Equal for values that are equal as JSON: unset members and the order of members make no difference. */
export function digestOf(value: unknown): string {
  const text = JSON.stringify(value, (_, member) => (isMap(member) ? sorted(member) : member));
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const sorted = (map: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1)));
