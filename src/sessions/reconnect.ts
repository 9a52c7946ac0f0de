import type { SessionResult } from "./command.ts";
import { sessionName } from "./naming.ts";
import { agentOf, type Session } from "./session.ts";

/**
 * What tells the session after a restart from those before, by the service's own clock: it is not older than the
 * youngest session of the same agent that is known now, and none of those that began in that very moment.
 */
export function watermark(
  { id, agent }: SessionResult,
  online: readonly Session[],
): Pick<SessionResult, "startedSince" | "notThese"> {
  const same = online.filter((session) => session.id === id || agentOf(session) === agent);
  const times = same.map(startOf).filter(Number.isFinite);
  if (times.length === 0) return {};
  const latest = Math.max(...times);
  const youngest = same.filter((session) => startOf(session) === latest);
  return { startedSince: new Date(latest).toISOString(), notThese: youngest.slice(0, 64).map((session) => session.id) };
}

/** The session of the same agent after its restart. `known`: ids that are spoken for. */
export function successorOf(
  { agent, sentAt, startedSince, notThese = [] }: SessionResult,
  online: readonly Session[],
  known: ReadonlySet<string>,
): Session | undefined {
  const since = Date.parse(startedSince ?? sentAt ?? "");
  return online
    .filter((session) => !known.has(session.id) && !notThese.includes(session.id))
    .filter((session) => agentOf(session) === agent && startOf(session) >= since)
    .sort((a, b) => startOf(a) - startOf(b))[0];
}

export const isBack = (session: SessionResult, { id }: Session): SessionResult => ({
  ...session,
  newSession: { id, name: sessionName(id) },
});

const startOf = ({ started_at }: Session): number => Date.parse(started_at ?? "");
