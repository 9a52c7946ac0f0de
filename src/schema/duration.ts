const units: Readonly<Record<string, number>> = { h: 3600, m: 60, s: 1, ms: 0.001 };

/** A duration as Kubernetes writes it: `90s`, `5m`, `1h30m`. */
export const durationPattern = /^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$/;

/** Seconds; NaN where the text is no duration. */
export function durationSeconds(text: string): number {
  if (!durationPattern.test(text)) return Number.NaN;
  const parts = text.matchAll(/(\d+(?:\.\d+)?)(ms|h|m|s)/g);
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * (units[unit as string] ?? 0), 0);
}
