import { isReady, keyOf, type ObjectState } from "./objects.ts";

/**
 * `stuck`: every object that is not Ready is Stalled, so it is useless to wait.
 * `waiting`: some objects are not Ready and not Stalled.
 */
export type Verdict = "ready" | "stuck" | "waiting";

export function verdictOf(expected: readonly string[], objects: readonly ObjectState[]): Verdict {
  const found = new Map(objects.map((object) => [keyOf(object), object]));
  const states = expected.map((key) => found.get(key));
  const unready = states.filter((state) => !state || !isReady(state));
  if (unready.length === 0) return "ready";
  return unready.every((state) => state?.stalled && state.current) ? "stuck" : "waiting";
}

/** A line for each object that is not Ready, with its condition. */
export function complaints(expected: readonly string[], objects: readonly ObjectState[]): string[] {
  const found = new Map(objects.map((object) => [keyOf(object), object]));
  return expected.flatMap((key) => {
    const state = found.get(key);
    if (!state) return [`${key}: there is no such object`];
    if (isReady(state)) return [];
    const { ready, reason, message, stalled, current } = state;
    const notes = [stalled && "stalled", !current && "the operator has not seen its last change"].filter(Boolean);
    return [`${key}: Ready is ${ready}, ${reason}: ${message}${notes.map((note) => ` (${note})`).join("")}`];
  });
}
