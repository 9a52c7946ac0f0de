/** RFC 3339 without fractions of a second, as Kubernetes writes times. `time` in epoch milliseconds. */
export const timestamp = (time: number): string => new Date(time).toISOString().replace(/\.\d+Z$/, "Z");
