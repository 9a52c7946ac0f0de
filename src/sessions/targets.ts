import { MAX_SESSIONS } from "../kinds/agent-command.ts";
import { type CommandSpec, restarts, type SessionResult } from "./command.ts";
import { sessionName } from "./naming.ts";
import { result } from "./progress.ts";
import { agentOf, isMirrored, isOnWindows, type Session, type SessionObject } from "./session.ts";

/** A command that can never begin. The message begins with what to do. */
export class NoTarget extends Error {
  override readonly name = "NoTarget";
}

export interface Found {
  /** Objects of the namespace of the command. */
  objects: readonly SessionObject[];
  /** Whether sessions are mirrored at all. */
  mirrored: boolean;
  /** What is online, by id. */
  online: ReadonlyMap<string, Session>;
}

/** The ids that a command means. Throws NoTarget where it means none. */
export function targetsOf({ sessionRef, selector }: CommandSpec, { objects, mirrored, online }: Found): string[] {
  if (sessionRef?.id) return [sessionRef.id];
  if (!mirrored) throw new NoTarget("Set SESSION_SYNC_INTERVAL, or give sessionRef.id: sessions are not mirrored");
  const ours = objects.filter((object) => isMirrored(object) && online.has(object.spec.id));
  if (selector) return selected(selector.matchLabels, ours);
  const [named] = ours.filter(({ metadata }) => metadata.name === sessionRef?.name);
  if (!named) throw new NoTarget(`Correct spec.sessionRef.name: no session "${sessionRef?.name}" is online`);
  return [named.spec.id];
}

function selected(matchLabels: Readonly<Record<string, string>>, objects: readonly SessionObject[]): string[] {
  const wanted = Object.entries(matchLabels);
  const ids = objects
    .filter(({ metadata }) => wanted.every(([label, value]) => metadata.labels?.[label] === value))
    .map(({ spec }) => spec.id)
    .sort();
  if (ids.length === 0) throw new NoTarget("Correct spec.selector: no session that is online has these labels");
  if (ids.length > MAX_SESSIONS) {
    throw new NoTarget(`Narrow spec.selector: it chooses ${ids.length} sessions, and at most ${MAX_SESSIONS} can be`);
  }
  return ids;
}

/** How a command begins with a session. */
export function begin(spec: CommandSpec, session: Session): SessionResult {
  const { id } = session;
  const pending: SessionResult = { id, name: sessionName(id), phase: "Pending", agent: agentOf(session) };
  if (!restarts(spec) || !isOnWindows(session)) return pending;
  const message = "Restart the agent on its host: the service cannot restart agents on Windows";
  return result(pending, "Failed", "RestartUnsupported", message);
}
