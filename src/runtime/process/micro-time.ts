/** RFC 3339 with exactly six digits of a second, the only form that the API server takes as a MicroTime. */
export const microTime = (date: Date): string => date.toISOString().replace("Z", "000Z");
