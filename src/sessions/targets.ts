import { MAX_SESSIONS } from "../kinds/agent-command.ts";
import { type CommandSpec, restarts, type SessionResult } from "./command.ts";
import { sessionName } from "./naming.ts";
import { withResult } from "./progress.ts";
import { agentOf, isOf, isOnWindows, type MirrorScope, type Session, type SessionObject } from "./session.ts";

/** The command can never start. The message begins with what to do. */
export class NoTargetError extends Error {
  override readonly name = "NoTargetError";
}

export interface KnownSessions {
  /** The account whose sessions may be commanded. */
  scope: MirrorScope;
  /** The session objects. */
  objects: readonly SessionObject[];
  /** Whether sessions are mirrored. */
  mirrored: boolean;
  /** The sessions that are online, or may be, by id. */
  online: ReadonlyMap<string, Session>;
}

/** The ids of the sessions that a command is for. Throws NoTargetError if there are none. */
export function targetsOf(spec: CommandSpec, { scope, objects, mirrored, online }: KnownSessions): string[] {
  const { sessionRef, selector } = spec;
  if (sessionRef?.id) return [sessionRef.id];
  if (!mirrored) throw new NoTargetError("Set SESSION_SYNC_INTERVAL, or give sessionRef.id: sessions are not mirrored");
  const ours = objects.filter((object) => isOfMirror(object, scope) && online.has(object.spec.id));
  if (selector) return idsWithLabels(spec, selector.matchLabels, ours);
  const [named] = ours.filter(({ metadata }) => metadata.name === sessionRef?.name);
  if (!named) throw noneOnline(spec);
  return [named.spec.id];
}

/** A copy that somebody has made has another name. It would choose its session a second time. */
const isOfMirror = (object: SessionObject, scope: MirrorScope): boolean =>
  isOf(object, scope) && object.metadata.name === sessionName(object.spec.id, scope.account);

export function noneOnline({ sessionRef }: CommandSpec): NoTargetError {
  if (!sessionRef) return new NoTargetError("Correct spec.selector: no session that is online has these labels");
  const { id, name } = sessionRef;
  if (id) return new NoTargetError(`Correct spec.sessionRef.id: session ${id} is not online`);
  return new NoTargetError(`Correct spec.sessionRef.name: no session "${name}" is online`);
}

function idsWithLabels(
  spec: CommandSpec,
  matchLabels: Readonly<Record<string, string>>,
  objects: readonly SessionObject[],
): string[] {
  const wanted = Object.entries(matchLabels);
  const ids = objects
    .filter(({ metadata }) => wanted.every(([label, value]) => metadata.labels?.[label] === value))
    .map(({ spec }) => spec.id)
    .sort();
  if (ids.length === 0) throw noneOnline(spec);
  if (ids.length > MAX_SESSIONS) {
    throw new NoTargetError(
      `Narrow spec.selector: it chooses ${ids.length} sessions, and at most ${MAX_SESSIONS} can be`,
    );
  }
  return ids;
}

/** The result that a session has before the first request. */
export function initialResult(spec: CommandSpec, session: Session, account?: string): SessionResult {
  const { id } = session;
  const pending: SessionResult = { id, name: sessionName(id, account), phase: "Pending", agent: agentOf(session) };
  if (!restarts(spec) || !isOnWindows(session)) return pending;
  const message = "Restart the agent on its host: the service cannot restart agents on Windows";
  return withResult(pending, "Failed", "RestartUnsupported", message);
}
