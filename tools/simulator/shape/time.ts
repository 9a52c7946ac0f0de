/** RFC 3339 in whole seconds, as the service writes times. */
export const stamp = (milliseconds: number): string => new Date(milliseconds).toISOString().replace(/\.\d+Z$/, "Z");

export const days = (count: number): number => count * 86_400_000;
