import { describe, expect, test } from "vitest";
import { session } from "../../test/fakes/sessions/fake-service.ts";
import { sessionResult } from "../kinds/agent-command.ts";
import type { Answer } from "./answer.ts";
import type { CommandSpec, SessionResult } from "./command.ts";
import {
  applyAnswer,
  markSending,
  nextBatch,
  nextRestartAt,
  recordKey,
  settleReturning,
  settleSending,
} from "./progress.ts";
import { agentOf } from "./session.ts";

const now = Date.parse("2026-01-01T12:00:00Z");
const at = (seconds: number) => new Date(now + seconds * 1000).toISOString().replace(".000", "");

const spec = (command: CommandSpec["command"], maxConcurrent = 1): CommandSpec => ({ command, maxConcurrent });
const result = (more: Partial<SessionResult> = {}): SessionResult => ({
  id: "ts_1",
  name: "ts-1",
  phase: "Pending",
  agent: agentOf(session("ts_1")),
  ...more,
});
const ids = (sessions: readonly SessionResult[]) => sessions.map(({ id }) => id);
const phases = (sessions: readonly SessionResult[]) => sessions.map(({ phase, reason }) => reason ?? phase);

describe("nextBatch", () => {
  const three = ["ts_1", "ts_2", "ts_3"].map((id) => result({ id }));

  test("takes as many sessions as maxConcurrent allows", () => {
    expect(ids(nextBatch(spec("Stop", 2), three, now))).toEqual(["ts_1", "ts_2"]);
  });

  test.each(["Sending", "Returning"] as const)("counts sessions that are %s", (phase) => {
    expect(nextBatch(spec("Restart"), [result({ phase }), result({ id: "ts_2" })], now)).toEqual([]);
  });

  test("takes an updated session after its wait, which does not count as a further one", () => {
    const sessions = [result({ phase: "Updated", restartAfter: at(5) }), result({ id: "ts_2" })];
    expect(nextBatch(spec("UpdateAndRestart"), sessions, now)).toEqual([]);
    expect(ids(nextBatch(spec("UpdateAndRestart"), sessions, now + 5000))).toEqual(["ts_1"]);
    expect(nextRestartAt(sessions)).toBe(now + 5000);
  });

  test("does not wait for a time further ahead than it ever records, after the system clock was set back", () => {
    const sessions = [result({ phase: "Updated", restartAfter: at(3600) })];
    expect(ids(nextBatch(spec("UpdateAndRestart"), sessions, now))).toEqual(["ts_1"]);
  });

  test("takes no more than one batch", () => {
    const many = Array.from({ length: 50 }, (_, index) => result({ id: `ts_${index}` }));
    expect(nextBatch(spec("Stop", 50), many, now)).toHaveLength(10);
  });
});

describe("markSending", () => {
  test("records the request, and for a restart how to recognise the new session", () => {
    const online = { listedAt: now, sessions: [session("ts_1", { started_at: at(-60) })] };
    const [recorded] = markSending(spec("Restart"), [result()], [result()], { now, online });
    expect(recorded).toMatchObject({
      phase: "Sending",
      sending: "restart",
      sentAt: at(0),
      startedSince: "2026-01-01T11:59:00.000Z",
      notThese: ["ts_1"],
    });
  });

  test.each(["+012026-01-01T00:00:00Z", "-000001-01-01T00:00:00Z", "soon"])(
    "records no time of a session that the API server would refuse: %s",
    (started) => {
      const online = { listedAt: now, sessions: [session("ts_1", { started_at: started })] };
      const [recorded] = markSending(spec("Restart"), [result()], [result()], { now, online });
      expect(sessionResult.safeParse(recorded).error).toBeUndefined();
      expect(recorded).not.toHaveProperty("startedSince");
    },
  );

  test("counts requests to update", () => {
    const [recorded] = markSending(spec("Update"), [result({ attempts: 1 })], [result()], { now });
    expect(recorded).toMatchObject({ phase: "Sending", sending: "update", attempts: 2 });
  });
});

const nothing: Answer = { outcome: "nothing", error: new Error("429") };
const doubt: Answer = { outcome: "doubt", message: "reset" };
const done: Answer = { outcome: "done" };
const refusal = (reason: Extract<Answer, { outcome: "refusal" }>["reason"]): Answer => ({
  outcome: "refusal",
  reason,
  message: "so it is",
});

describe("applyAnswer", () => {
  test.each<[string, CommandSpec["command"], Partial<SessionResult>, Answer, string]>([
    ["stopped", "Stop", { sending: "stop" }, done, "Succeeded"],
    ["nothing was sent", "Stop", { sending: "stop" }, nothing, "Pending"],
    ["a stop is never repeated", "Stop", { sending: "stop" }, doubt, "Unknown AnswerLost"],
    ["a restart is never repeated", "Restart", { sending: "restart" }, doubt, "Unknown AnswerLost"],
    ["an agent restarts", "Restart", { sending: "restart" }, done, "Returning"],
    ["offline", "Restart", { sending: "restart" }, refusal("SessionOffline"), "Failed SessionOffline"],
    ["updated", "Update", { sending: "update", attempts: 1 }, done, "Succeeded"],
    ["an update is repeated", "Update", { sending: "update", attempts: 1 }, doubt, "Pending"],
    ["an update is not repeated for ever", "Update", { sending: "update", attempts: 3 }, doubt, "Unknown AnswerLost"],
    ["no update", "Update", { sending: "update" }, refusal("NoUpdateAvailable"), "Skipped NoUpdateAvailable"],
    ["disabled", "Update", { sending: "update" }, refusal("UpdateChecksDisabled"), "Failed UpdateChecksDisabled"],
    [
      "an update that somebody else requested",
      "Update",
      { sending: "update", attempts: 1 },
      refusal("Updating"),
      "Skipped Updating",
    ],
    [
      "an update of this command's first request",
      "Update",
      { sending: "update", attempts: 2 },
      refusal("Updating"),
      "Succeeded",
    ],
    ["waits for the restart", "UpdateAndRestart", { sending: "update" }, done, "Updated"],
    [
      "restarted although updated before",
      "UpdateAndRestart",
      { sending: "update" },
      refusal("AwaitingRestart"),
      "Updated",
    ],
    [
      "not restarted without an update",
      "UpdateAndRestart",
      { sending: "update" },
      refusal("NoUpdateAvailable"),
      "Skipped NoUpdateAvailable",
    ],
    [
      "still to be restarted when nothing was sent",
      "UpdateAndRestart",
      { sending: "restart", restartAfter: at(0) },
      nothing,
      "Updated",
    ],
    [
      "not restarted twice",
      "UpdateAndRestart",
      { sending: "restart", restartAfter: at(0) },
      doubt,
      "Unknown AnswerLost",
    ],
  ])("%s", (_, command, recorded, answer, expected) => {
    const { phase, reason } = applyAnswer(spec(command), result({ phase: "Sending", ...recorded }), answer, now);
    expect([phase, reason].filter(Boolean).join(" ")).toBe(expected);
  });

  test("the restart waits at least 12 seconds after the update", () => {
    const settled = applyAnswer(
      spec("UpdateAndRestart"),
      result({ phase: "Sending", sending: "update" }),
      done,
      now + 1,
    );
    expect(settled.restartAfter).toBe(at(13));
  });

  test("a message fits into the status, however long its cause is", () => {
    const lost: Answer = { outcome: "doubt", message: "x".repeat(300) };
    const { message } = applyAnswer(spec("Stop"), result({ phase: "Sending", sending: "stop" }), lost, now);
    expect(sessionResult.shape.message.safeParse(message).success).toBe(true);
  });

  test("an update that was not sent is not counted", () => {
    const recorded = result({ phase: "Sending", sending: "update", attempts: 3 });
    expect(applyAnswer(spec("Update"), recorded, nothing, now).attempts).toBe(2);
  });
});

test("settleSending applies an answer only to the request that it belongs to", () => {
  const one = result({ phase: "Sending", sending: "stop", sentAt: at(0) });
  const before = { ...one, sentAt: at(-1) };
  expect(phases(settleSending(spec("Stop"), [one], new Map([[recordKey(one), done]]), now))).toEqual(["Succeeded"]);
  expect(phases(settleSending(spec("Stop"), [one], new Map([[recordKey(before), nothing]]), now))).toEqual([
    "AnswerLost",
  ]);
});

describe("settleReturning", () => {
  const away = result({ phase: "Returning", sentAt: at(-10), startedSince: at(-3600), notThese: ["ts_1"] });
  const online = (sessions: ReturnType<typeof session>[], listedAt = now) => ({ now, online: { sessions, listedAt } });

  test("finds the session after the restart", () => {
    const next = session("ts_9", { started_at: at(-5) });
    const [back] = settleReturning([away], online([next]));
    expect(back).toMatchObject({ phase: "Succeeded", newSession: { id: "ts_9" } });
    expect(back).not.toHaveProperty("agent");
  });

  test.each([
    ["is of another agent", session("ts_9", { started_at: at(-5), ip: "203.0.113.8" })],
    ["is older", session("ts_9", { started_at: at(-4000) })],
    ["was there before the restart", session("ts_1", { started_at: at(-5) })],
    ["does not say when it started", session("ts_9", { started_at: null })],
  ])("does not take a session that %s", (_, other) => {
    expect(phases(settleReturning([away], online([other])))).toEqual(["Returning"]);
  });

  test("finds a session for each of two agents that look the same", () => {
    const both = [away, { ...away, id: "ts_2" }];
    const [first, second] = settleReturning(
      both,
      online([session("ts_8", { started_at: at(-4) }), session("ts_9", { started_at: at(-5) })]),
    );
    expect([first?.newSession?.id, second?.newSession?.id]).toEqual(["ts_9", "ts_8"]);
    expect(phases(settleReturning(both, online([session("ts_9", { started_at: at(-5) })])))).toEqual([
      "Succeeded",
      "Returning",
    ]);
  });

  test("fails when a list that began 5 minutes later has no such session, and skips the other agents", () => {
    const sessions = [away, result({ id: "ts_2" }), result({ id: "ts_3", phase: "Updated" })];
    const waiting = ["Returning", "Pending", "Updated"];
    expect(phases(settleReturning(sessions, { now: now + 600_000 }))).toEqual(waiting);
    expect(phases(settleReturning(sessions, online([], now + 289_000)))).toEqual(waiting);
    expect(phases(settleReturning(sessions, online([], now + 290_000)))).toEqual([
      "NotReconnected",
      "NotSent",
      "NotSent",
    ]);
  });
});
