import type { CommandObject, SessionResult } from "./command.ts";

/** No command waits longer for an agent to reconnect, so it does not matter any more for which one a session counted. */
const KEPT_MS = 10 * 60_000;

/**
 * Which command has counted which session as that of an agent that it has restarted. The statuses say so as well, but not
 * before they are written, and no longer when a command is deleted. No I/O.
 */
export class CountedSessions {
  /** By the id of the session. The service gives each id once, whatever the account. */
  readonly #byID = new Map<string, { uid: string; at: number }>();

  /** The sessions of a command, as they are about to be written. `now`: milliseconds since the epoch. */
  record(uid: string, sessions: readonly SessionResult[], now: number): void {
    for (const [id, one] of this.#byID) if (one.uid === uid || now - one.at > KEPT_MS) this.#byID.delete(id);
    for (const { newSession } of sessions) if (newSession) this.#byID.set(newSession.id, { uid, at: now });
  }

  /** Ids of the sessions that other commands have counted. */
  ofOthers(uid: string, commands: readonly CommandObject[], now: number): ReadonlySet<string> {
    const written = commands
      .filter(({ metadata }) => metadata.uid !== uid)
      .flatMap(({ status }) => status?.sessions ?? [])
      .flatMap(({ newSession }) => newSession?.id ?? []);
    const recorded = [...this.#byID].filter(([, one]) => one.uid !== uid && now - one.at <= KEPT_MS).map(([id]) => id);
    return new Set([...written, ...recorded]);
  }
}
