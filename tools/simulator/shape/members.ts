/** The members of a JSON object. */
export type Members = Record<string, unknown>;

export const isMembers = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);
