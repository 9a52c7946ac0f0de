import type { Remote } from "../../gateway/resource.ts";
import type { tunnelSessions } from "../../gateway/resources/index.ts";
import { counted } from "../../schema/nouns.ts";

export type TunnelSession = Remote<typeof tunnelSessions.wire>;

/** Sessions that agents have with the same credential. `credential`: its id; empty: the service shows none. */
export interface SessionGroup {
  credential: string;
  sessions: readonly TunnelSession[];
}

/** The sessions that use this credential. */
export const sessionsOf = (groups: readonly SessionGroup[], id: string | undefined): readonly TunnelSession[] =>
  (id && groups.find(({ credential }) => credential === id)?.sessions) || [];

export const sessionsUse = (count: number): string => counted(count, "tunnel session uses", "tunnel sessions use");

/** By credential, those with most sessions first. */
export function groupsOf(sessions: readonly TunnelSession[]): SessionGroup[] {
  const byCredential = Map.groupBy(sessions, ({ credential }) => credential?.id ?? "");
  return [...byCredential]
    .map(([credential, group]) => ({ credential, sessions: group.sort((one, other) => (one.id < other.id ? -1 : 1)) }))
    .sort((one, other) => other.sessions.length - one.sessions.length || (one.credential < other.credential ? -1 : 1));
}
