import type { ResultReason } from "../kinds/agent-command.ts";

// the API page names the four cases and no codes, so the service's words have to do
const words: readonly (readonly [ResultReason, RegExp])[] = [
  ["NoUpdateAvailable", /\bno (\w+ )?(update|version)s?\b(?!.*\bcheck)|\bup[- ]to[- ]date\b|\balready .*\blatest\b/i],
  ["UpdateChecksDisabled", /\bdisable[sd]?\b/i],
  [
    "Updating",
    /\b(is|are|currently|already|being) updating\b|\bupdate .*\b(in progress|under way|underway|ongoing)\b/i,
  ],
  ["AwaitingRestart", /\brestart/i],
];

/** Why a request to update was refused, when exactly one of the four stated reasons fits the service's words. */
export function updateRefusal(message: string | undefined): ResultReason | undefined {
  if (message === undefined) return undefined;
  const [first, ...others] = words.filter(([, pattern]) => pattern.test(message));
  return others.length === 0 ? first?.[0] : undefined;
}
