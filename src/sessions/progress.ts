import type { SessionCommand } from "../gateway/resources/index.ts";
import { MAX_TEXT, type Phase, type ResultReason } from "../kinds/agent-command.ts";
import type { Answer } from "./answer.ts";
import { type CommandSpec, hasResult, isActive, type SessionResult } from "./command.ts";
import { reconnectBaseline, successorOf, withNewSession } from "./reconnect.ts";
import type { Session } from "./session.ts";

/** What a step of a command is based on. */
export interface Observation {
  /** Milliseconds since the epoch. */
  now: number;
  /** The latest list of sessions. Those that it lacks were offline when the list of `listedAt` began. */
  online?: { sessions: readonly Session[]; listedAt: number } | undefined;
  /** Ids of sessions that other commands have counted as those of agents that they have restarted. */
  counted?: ReadonlySet<string> | undefined;
  /** The GatewayAccount of the sessions. Undefined: the operator's own credentials. */
  account?: string | undefined;
}

type Results = readonly SessionResult[];

/** The service asks for 10 seconds between update and restart. The rest is for differing clocks of two processes. */
const RESTART_WAIT_MS = 12_000;
/** A restart has failed if the agent has not reconnected after this long. */
const RECONNECT_MS = 5 * 60_000;
/** How often an update is requested if the answers are lost. */
const UPDATE_ATTEMPTS = 3;
/** Requests that are recorded in one write of the status. */
const BATCH = 10;

const timestampAfter = (time: number): string =>
  new Date(Math.ceil(time / 1000) * 1000).toISOString().replace(".000", "");

/** Identifies one recorded request, so that an answer is matched to it and to no other. */
export const recordKey = ({ id, sending, attempts = 0, sentAt }: SessionResult): string =>
  [id, sending, attempts, sentAt].join(" ");

/**
 * Applies the answers to the recorded requests. `answers`: by `recordKey`. A request without an answer was recorded by a
 * process that ended before the answer came.
 */
export function settleSending(spec: CommandSpec, sessions: Results, answers: ReadonlyMap<string, Answer>, now: number) {
  const noAnswer: Answer = { outcome: "doubt", message: "the operator was stopped before the answer came" };
  return sessions.map((one) =>
    one.phase === "Sending" ? applyAnswer(spec, one, answers.get(recordKey(one)) ?? noAnswer, now) : one,
  );
}

/** Finishes the sessions whose agents reconnected after a restart, or did not reconnect in time. */
export function settleReturning(sessions: Results, { online, account, counted = new Set() }: Observation) {
  const own = sessions.flatMap(({ id, newSession }) => (newSession ? [id, newSession.id] : [id]));
  const known = new Set([...own, ...counted]);
  const next = sessions.map((one): SessionResult => {
    if (one.phase !== "Returning" || !online) return one;
    const newSession = successorOf(one, online.sessions, known);
    if (newSession) {
      known.add(newSession.id);
      return withNewSession(withResult(one, "Succeeded"), newSession, account);
    }
    if (online.listedAt < Date.parse(one.sentAt ?? "") + RECONNECT_MS) return one;
    return withResult(one, "Failed", "NotReconnected", "Look at the agent: it did not reconnect within 5 minutes");
  });
  // The reason why one agent has not reconnected may affect the others too.
  return next.some(({ reason }) => reason === "NotReconnected") ? next.map(skipUnsent) : next;
}

function skipUnsent(session: SessionResult): SessionResult {
  if (session.phase !== "Pending" && session.phase !== "Updated") return session;
  const message = session.phase === "Updated" ? "Updated, but not restarted" : "Not commanded";
  return withResult(session, "Skipped", "NotSent", `${message}: another agent did not reconnect after its restart`);
}

/** The sessions to which a request is to be sent now. */
export function nextBatch({ maxConcurrent }: CommandSpec, sessions: Results, now: number): SessionResult[] {
  const updated = sessions.filter((one) => one.phase === "Updated" && isOver(one.restartAfter, now));
  const free = Math.max(0, maxConcurrent - sessions.filter(isActive).length);
  const pending = sessions.filter(({ phase }) => phase === "Pending").slice(0, free);
  return [...updated, ...pending].slice(0, BATCH);
}

/** Also true for a time further ahead than RESTART_WAIT_MS: the system clock was set back after it was recorded. */
function isOver(restartAfter = "", now: number): boolean {
  const wait = Date.parse(restartAfter) - now;
  return wait <= 0 || wait > RESTART_WAIT_MS + 1000;
}

/** The next request to a session. */
export function requestFor({ command }: CommandSpec, { phase }: SessionResult): SessionCommand {
  if (command === "Stop") return "stop";
  return command === "Restart" || phase === "Updated" ? "restart" : "update";
}

/** The sessions as recorded before the requests of `batch` are sent. */
export function markSending(
  spec: CommandSpec,
  sessions: Results,
  batch: Results,
  { now, online }: Observation,
): SessionResult[] {
  const chosen = new Set(batch.map(({ id }) => id));
  return sessions.map((one) => {
    if (!chosen.has(one.id)) return one;
    const sending = requestFor(spec, one);
    return {
      ...one,
      phase: "Sending",
      sending,
      sentAt: timestampAfter(now),
      ...(sending === "update" && { attempts: (one.attempts ?? 0) + 1 }),
      ...(sending === "restart" && reconnectBaseline(one, online?.sessions ?? [])),
    };
  });
}

/** The session after the answer to its recorded request. */
export function applyAnswer(spec: CommandSpec, session: SessionResult, answer: Answer, now: number): SessionResult {
  switch (answer.outcome) {
    case "nothing":
      return undoSending(session, (session.attempts ?? 0) - (session.sending === "update" ? 1 : 0));
    case "doubt":
      return applyLostAnswer(session, answer.message);
    case "done":
      return applySuccess(spec, session, now);
    case "refusal":
      return applyRefusal(spec, session, answer, now);
  }
}

/** The session as it was before the request was recorded. */
function undoSending({ id, name, agent, sending, restartAfter }: SessionResult, attempts: number): SessionResult {
  const phase = sending === "restart" && restartAfter ? "Updated" : "Pending";
  return { id, name, phase, agent, ...(restartAfter && { restartAfter }), ...(attempts > 0 && { attempts }) };
}

/** Never repeats a restart or stop. Repeats an update: if the first one was done, the service refuses the second. */
function applyLostAnswer(session: SessionResult, why: string): SessionResult {
  const { sending, attempts = 1 } = session;
  if (sending === "update" && attempts < UPDATE_ATTEMPTS) return undoSending(session, attempts);
  return withResult(session, "Unknown", "AnswerLost", `See for yourself whether it was done: ${why}`);
}

function applySuccess({ command }: CommandSpec, session: SessionResult, now: number): SessionResult {
  if (session.sending === "restart") return { ...session, phase: "Returning" };
  if (session.sending === "stop" || command === "Update") return withResult(session, "Succeeded");
  return markUpdated(session, now);
}

const markUpdated = (session: SessionResult, now: number): SessionResult => ({
  ...session,
  phase: "Updated",
  restartAfter: timestampAfter(now + RESTART_WAIT_MS),
});

function applyRefusal(
  { command }: CommandSpec,
  session: SessionResult,
  { reason, message }: Extract<Answer, { outcome: "refusal" }>,
  now: number,
): SessionResult {
  if (reason === "NoUpdateAvailable") return withResult(session, "Skipped", reason, message);
  if (reason !== "Updating" && reason !== "AwaitingRestart") return withResult(session, "Failed", reason, message);
  // Somebody else may have requested the same update a moment ago, so the restart waits as well.
  if (command === "UpdateAndRestart") return markUpdated(session, now);
  // Whether an earlier request of this command, whose answer was lost, has caused the update.
  const ours = (session.attempts ?? 1) > 1;
  return ours ? withResult(session, "Succeeded") : withResult(session, "Skipped", reason, message);
}

/** The session with its result, without what was only needed until then. */
export function withResult(
  { id, name, sentAt }: SessionResult,
  phase: Phase,
  reason?: ResultReason,
  message?: string,
): SessionResult {
  const text = message?.slice(0, MAX_TEXT);
  return { id, name, phase, ...(sentAt && { sentAt }), ...(reason && { reason }), ...(text && { message: text }) };
}

export const isFinished = (sessions: Results): boolean => sessions.every(hasResult);

/** When the next restart after an update is due; milliseconds since the epoch. */
export function nextRestartAt(sessions: Results): number | undefined {
  const waits = sessions.flatMap(({ phase, restartAfter }) =>
    phase === "Updated" && restartAfter ? [Date.parse(restartAfter)] : [],
  );
  return waits.length > 0 ? Math.min(...waits) : undefined;
}
