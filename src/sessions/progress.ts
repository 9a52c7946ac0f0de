import type { Phase, ResultReason } from "../kinds/agent-command.ts";
import type { Answer, Request } from "./answer.ts";
import { type CommandSpec, hasResult, isActive, type SessionResult } from "./command.ts";
import { isBack, successorOf, watermark } from "./reconnect.ts";
import type { Session } from "./session.ts";

/** What is known of the world when a command goes on. */
export interface View {
  /** Milliseconds since the epoch. */
  now: number;
  /** The latest list of sessions, and when it began. */
  online?: { sessions: readonly Session[]; listedAt: number } | undefined;
}

type Results = readonly SessionResult[];

/** The service asks for 10 seconds between an update and the restart; the clocks of two processes may differ. */
const RESTART_WAIT_MS = 12_000;
/** An agent that is not back after this long is taken for lost. */
const RETURN_MS = 5 * 60_000;
/** How often an update is requested whose answer was lost. */
const UPDATE_ATTEMPTS = 3;
/** Requests between two writes of the status. */
const BATCH = 10;

const seconds = (time: number): string => new Date(Math.ceil(time / 1000) * 1000).toISOString().replace(".000", "");

/** Names one record of a request, so that an answer is never taken for that to another. */
export const recordKey = ({ id, sending, attempts = 0, sentAt }: SessionResult): string =>
  [id, sending, attempts, sentAt].join(" ");

/**
 * Where requests were recorded and no answer was: the process ended in between. `answers`: those that are known all
 * the same, by the key of the record.
 */
export function recover(spec: CommandSpec, sessions: Results, answers: ReadonlyMap<string, Answer>, now: number) {
  const lost: Answer = { got: "doubt", message: "the operator was stopped before the answer came" };
  return sessions.map((one) =>
    one.phase === "Sending" ? settle(spec, one, answers.get(recordKey(one)) ?? lost, now) : one,
  );
}

/** What has come to pass by itself: agents that are back, and those that are not in time. */
export function advance(sessions: Results, { online }: View): SessionResult[] {
  const known = new Set(sessions.flatMap(({ id, newSession }) => (newSession ? [id, newSession.id] : [id])));
  const seen = sessions.map((one) => {
    if (one.phase !== "Returning" || !online) return one;
    const next = successorOf(one, online.sessions, known);
    if (next) {
      known.add(next.id);
      return isBack(result(one, "Succeeded"), next);
    }
    if (online.listedAt < Date.parse(one.sentAt ?? "") + RETURN_MS) return one;
    return result(one, "Failed", "NotReconnected", "Look at the agent: it did not reconnect within 5 minutes");
  });
  // what took one agent away may take the others as well
  return seen.some(({ reason }) => reason === "NotReconnected") ? seen.map(held) : seen;
}

function held(session: SessionResult): SessionResult {
  if (session.phase !== "Pending" && session.phase !== "Updated") return session;
  const message = session.phase === "Updated" ? "Updated, but not restarted" : "Not commanded";
  return result(session, "Skipped", "NotSent", `${message}: another agent did not reconnect after its restart`);
}

/** The sessions whose turn it is to be sent a request. */
export function due({ maxConcurrent }: CommandSpec, sessions: Results, now: number): SessionResult[] {
  const updated = sessions.filter((one) => one.phase === "Updated" && hasCome(one.restartAfter, now));
  const free = Math.max(0, maxConcurrent - sessions.filter(isActive).length);
  const pending = sessions.filter(({ phase }) => phase === "Pending").slice(0, free);
  return [...updated, ...pending].slice(0, BATCH);
}

/** What lies further ahead than any time that is set here was set before the calendar went back. */
function hasCome(restartAfter = "", now: number): boolean {
  const wait = Date.parse(restartAfter) - now;
  return wait <= 0 || wait > RESTART_WAIT_MS + 1000;
}

/** The request that a session is sent next. */
export function requestFor({ command }: CommandSpec, { phase }: SessionResult): Request {
  if (command === "Stop") return "stop";
  return command === "Restart" || phase === "Updated" ? "restart" : "update";
}

/** What is recorded before the requests are sent, so that none of them is ever sent a second time by mistake. */
export function intend(spec: CommandSpec, sessions: Results, batch: Results, { now, online }: View): SessionResult[] {
  const chosen = new Set(batch.map(({ id }) => id));
  return sessions.map((one) => {
    if (!chosen.has(one.id)) return one;
    const sending = requestFor(spec, one);
    return {
      ...one,
      phase: "Sending",
      sending,
      sentAt: seconds(now),
      ...(sending === "update" && { attempts: (one.attempts ?? 0) + 1 }),
      ...(sending === "restart" && watermark(one, online?.sessions ?? [])),
    };
  });
}

/** What an answer makes of a session whose request was recorded. */
export function settle(spec: CommandSpec, session: SessionResult, answer: Answer, now: number): SessionResult {
  switch (answer.got) {
    case "nothing":
      return back(session, (session.attempts ?? 0) - (session.sending === "update" ? 1 : 0));
    case "doubt":
      return doubtful(session, answer.message);
    case "done":
      return done(spec, session, now);
    case "refusal":
      return refused(spec, session, answer, now);
  }
}

/** To before the request was recorded. */
function back({ id, name, agent, sending, restartAfter }: SessionResult, attempts: number): SessionResult {
  const phase = sending === "restart" && restartAfter ? "Updated" : "Pending";
  return { id, name, phase, agent, ...(restartAfter && { restartAfter }), ...(attempts > 0 && { attempts }) };
}

/**
 * A restart or a stop is never sent a second time. An update is: when the first was done, the service refuses the
 * second, and says so.
 */
function doubtful(session: SessionResult, why: string): SessionResult {
  const { sending, attempts = 1 } = session;
  if (sending === "update" && attempts < UPDATE_ATTEMPTS) return back(session, attempts);
  return result(session, "Unknown", "AnswerLost", `See for yourself whether it was done: ${why}`);
}

function done({ command }: CommandSpec, session: SessionResult, now: number): SessionResult {
  if (session.sending === "restart") return { ...session, phase: "Returning" };
  if (session.sending === "stop" || command === "Update") return result(session, "Succeeded");
  return updated(session, now);
}

const updated = (session: SessionResult, now: number): SessionResult => ({
  ...session,
  phase: "Updated",
  restartAfter: seconds(now + RESTART_WAIT_MS),
});

function refused(
  { command }: CommandSpec,
  session: SessionResult,
  { reason, message }: Extract<Answer, { got: "refusal" }>,
  now: number,
): SessionResult {
  if (reason === "NoUpdateAvailable") return result(session, "Skipped", reason, message);
  if (reason !== "Updating" && reason !== "AwaitingRestart") return result(session, "Failed", reason, message);
  // whoever asked for that update, it may have been a moment ago
  if (command === "UpdateAndRestart") return updated(session, now);
  // only an earlier request of this command can have led to it
  const ours = (session.attempts ?? 1) > 1;
  return ours ? result(session, "Succeeded") : result(session, "Skipped", reason, message);
}

/** What was needed on the way is left out. */
export function result(
  { id, name, sentAt }: SessionResult,
  phase: Phase,
  reason?: ResultReason,
  message?: string,
): SessionResult {
  return { id, name, phase, ...(sentAt && { sentAt }), ...(reason && { reason }), ...(message && { message }) };
}

export const isFinished = (sessions: Results): boolean => sessions.every(hasResult);

/** When something is due by the clock alone; milliseconds since the epoch. */
export function nextMoment(sessions: Results): number | undefined {
  const waits = sessions.flatMap(({ phase, restartAfter }) =>
    phase === "Updated" && restartAfter ? [Date.parse(restartAfter)] : [],
  );
  return waits.length > 0 ? Math.min(...waits) : undefined;
}
