/** RFC 3339 with six digits for fractions of a second: the API server accepts no other form as a MicroTime. */
export const microTime = (date: Date): string => date.toISOString().replace("Z", "000Z");
