/** The first and the last time that RFC 3339 can write: its years have four digits. */
const [FIRST, LAST] = [Date.parse("0000-01-01T00:00:00Z"), Date.parse("9999-12-31T23:59:59Z")];

/** Whether RFC 3339 can write a time, in epoch milliseconds. A text of others may give any, and JavaScript reads it. */
export const isWritable = (time: number): boolean => time >= FIRST && time <= LAST;

/** RFC 3339 without fractions of a second, as Kubernetes writes times. `time` in epoch milliseconds. */
export const timestamp = (time: number): string => new Date(time).toISOString().replace(/\.\d+Z$/, "Z");
