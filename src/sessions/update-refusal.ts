import type { ResultReason } from "../kinds/agent-command.ts";

// the API page (docs/gateway-api.md) names the four reasons but no error codes, so the message has to tell them apart
const patterns: readonly (readonly [ResultReason, RegExp])[] = [
  ["NoUpdateAvailable", /\bno (\w+ )?(update|version)s?\b(?!.*\bcheck)|\bup[- ]to[- ]date\b|\balready .*\blatest\b/i],
  ["UpdateChecksDisabled", /\bdisable[sd]?\b/i],
  [
    "Updating",
    /\b(is|are|currently|already|being) updating\b|\bupdate .*\b(in progress|under way|underway|ongoing)\b/i,
  ],
  ["AwaitingRestart", /\brestart/i],
];

/** The reason of a refused update, if exactly one of the four reasons matches the service's message. */
export function updateRefusal(message: string | undefined): ResultReason | undefined {
  if (message === undefined) return undefined;
  const [first, ...others] = patterns.filter(([, pattern]) => pattern.test(message));
  return others.length === 0 ? first?.[0] : undefined;
}
