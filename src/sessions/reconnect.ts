import { isWritable } from "../schema/time.ts";
import type { SessionResult } from "./command.ts";
import { sessionName } from "./naming.ts";
import { agentOf, type Session } from "./session.ts";

/**
 * Recorded before a restart, to recognise the new session afterwards by the service's own clock. The new session is not
 * older than the youngest session of the same agent now (`startedSince`), and is none of those that started at the
 * same time as that one (`notThese`).
 */
export function reconnectBaseline(
  { id, agent }: SessionResult,
  online: readonly Session[],
): Pick<SessionResult, "startedSince" | "notThese"> {
  const same = online.filter((session) => session.id === id || agentOf(session) === agent);
  const times = same.map(startedAt).filter(isWritable);
  if (times.length === 0) return {};
  const latest = Math.max(...times);
  const youngest = same.filter((session) => startedAt(session) === latest);
  return { startedSince: new Date(latest).toISOString(), notThese: youngest.slice(0, 64).map((session) => session.id) };
}

/** The new session of the agent after its restart. `known`: ids that belong to other sessions of the command, or to other commands. */
export function successorOf(
  { agent, sentAt, startedSince, notThese = [] }: SessionResult,
  online: readonly Session[],
  known: ReadonlySet<string>,
): Session | undefined {
  const since = Date.parse(startedSince ?? sentAt ?? "");
  return online
    .filter((session) => !known.has(session.id) && !notThese.includes(session.id))
    .filter((session) => agentOf(session) === agent && startedAt(session) >= since)
    .sort((a, b) => startedAt(a) - startedAt(b))[0];
}

export const withNewSession = (session: SessionResult, { id }: Session, account?: string): SessionResult => ({
  ...session,
  newSession: { id, name: sessionName(id, account) },
});

const startedAt = ({ started_at }: Session): number => Date.parse(started_at ?? "");
