import { describe, expect, test } from "vitest";
import type { Answer } from "./answer.ts";
import type { CommandSpec, SessionResult } from "./command.ts";
import { advance, due, intend, nextMoment, recordKey, recover, settle } from "./progress.ts";
import { agentOf } from "./session.ts";
import { session } from "./testing/fake-service.ts";

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

describe("due", () => {
  const three = ["ts_1", "ts_2", "ts_3"].map((id) => result({ id }));

  test("takes as many as may be worked on at the same time", () => {
    expect(ids(due(spec("Stop", 2), three, now))).toEqual(["ts_1", "ts_2"]);
  });

  test.each(["Sending", "Returning"] as const)("counts those that are %s", (phase) => {
    expect(due(spec("Restart"), [result({ phase }), result({ id: "ts_2" })], now)).toEqual([]);
  });

  test("takes an updated one when its time has come, which is not one more", () => {
    const sessions = [result({ phase: "Updated", restartAfter: at(5) }), result({ id: "ts_2" })];
    expect(due(spec("UpdateAndRestart"), sessions, now)).toEqual([]);
    expect(ids(due(spec("UpdateAndRestart"), sessions, now + 5000))).toEqual(["ts_1"]);
    expect(nextMoment(sessions)).toBe(now + 5000);
  });

  test("does not wait for a time that is further away than any it sets: the calendar was set back", () => {
    const sessions = [result({ phase: "Updated", restartAfter: at(3600) })];
    expect(ids(due(spec("UpdateAndRestart"), sessions, now))).toEqual(["ts_1"]);
  });

  test("takes no more than can be recorded in good time", () => {
    const many = Array.from({ length: 50 }, (_, index) => result({ id: `ts_${index}` }));
    expect(due(spec("Stop", 50), many, now)).toHaveLength(10);
  });
});

describe("intend", () => {
  test("records the request, and for a restart what tells the next session", () => {
    const online = { listedAt: now, sessions: [session("ts_1", { started_at: at(-60) })] };
    const [recorded] = intend(spec("Restart"), [result()], [result()], { now, online });
    expect(recorded).toMatchObject({
      ...{ phase: "Sending", sending: "restart", sentAt: at(0) },
      ...{ startedSince: "2026-01-01T11:59:00.000Z", notThese: ["ts_1"] },
    });
  });

  test("counts requests to update", () => {
    const [recorded] = intend(spec("Update"), [result({ attempts: 1 })], [result()], { now });
    expect(recorded).toMatchObject({ phase: "Sending", sending: "update", attempts: 2 });
  });
});

const nothing: Answer = { got: "nothing", error: new Error("429") };
const doubt: Answer = { got: "doubt", message: "reset" };
const done: Answer = { got: "done" };
const refusal = (reason: Extract<Answer, { got: "refusal" }>["reason"]): Answer => ({
  got: "refusal",
  reason,
  message: "so it is",
});

describe("settle", () => {
  test.each<[string, CommandSpec["command"], Partial<SessionResult>, Answer, string]>([
    ["stopped", "Stop", { sending: "stop" }, done, "Succeeded"],
    ["nothing was sent", "Stop", { sending: "stop" }, nothing, "Pending"],
    ["a stop is never repeated", "Stop", { sending: "stop" }, doubt, "Unknown AnswerLost"],
    ["a restart is never repeated", "Restart", { sending: "restart" }, doubt, "Unknown AnswerLost"],
    ["an agent restarts", "Restart", { sending: "restart" }, done, "Returning"],
    ["offline", "Restart", { sending: "restart" }, refusal("SessionOffline"), "Failed SessionOffline"],
    ["updated", "Update", { sending: "update", attempts: 1 }, done, "Succeeded"],
    ["an update is repeated", "Update", { sending: "update", attempts: 1 }, doubt, "Pending"],
    ["but not for ever", "Update", { sending: "update", attempts: 3 }, doubt, "Unknown AnswerLost"],
    ["no update", "Update", { sending: "update" }, refusal("NoUpdateAvailable"), "Skipped NoUpdateAvailable"],
    ["disabled", "Update", { sending: "update" }, refusal("UpdateChecksDisabled"), "Failed UpdateChecksDisabled"],
    ["by somebody else", "Update", { sending: "update", attempts: 1 }, refusal("Updating"), "Skipped Updating"],
    ["by the first of two", "Update", { sending: "update", attempts: 2 }, refusal("Updating"), "Succeeded"],
    ["waits for the restart", "UpdateAndRestart", { sending: "update" }, done, "Updated"],
    ["is restarted all the same", "UpdateAndRestart", { sending: "update" }, refusal("AwaitingRestart"), "Updated"],
    [
      "no need to restart",
      "UpdateAndRestart",
      { sending: "update" },
      refusal("NoUpdateAvailable"),
      "Skipped NoUpdateAvailable",
    ],
    ["still updated", "UpdateAndRestart", { sending: "restart", restartAfter: at(0) }, nothing, "Updated"],
    [
      "not restarted twice",
      "UpdateAndRestart",
      { sending: "restart", restartAfter: at(0) },
      doubt,
      "Unknown AnswerLost",
    ],
  ])("%s", (_, command, recorded, answer, expected) => {
    const { phase, reason } = settle(spec(command), result({ phase: "Sending", ...recorded }), answer, now);
    expect([phase, reason].filter(Boolean).join(" ")).toBe(expected);
  });

  test("the restart waits for more than 10 seconds", () => {
    const settled = settle(spec("UpdateAndRestart"), result({ phase: "Sending", sending: "update" }), done, now + 1);
    expect(settled.restartAfter).toBe(at(13));
  });

  test("what was not sent is not counted", () => {
    const recorded = result({ phase: "Sending", sending: "update", attempts: 3 });
    expect(settle(spec("Update"), recorded, nothing, now).attempts).toBe(2);
  });
});

test("recover takes an answer for the record it belongs to, and doubts the others", () => {
  const one = result({ phase: "Sending", sending: "stop", sentAt: at(0) });
  const before = { ...one, sentAt: at(-1) };
  expect(phases(recover(spec("Stop"), [one], new Map([[recordKey(one), done]]), now))).toEqual(["Succeeded"]);
  expect(phases(recover(spec("Stop"), [one], new Map([[recordKey(before), nothing]]), now))).toEqual(["AnswerLost"]);
});

describe("advance", () => {
  const away = result({ phase: "Returning", sentAt: at(-10), startedSince: at(-3600), notThese: ["ts_1"] });
  const online = (sessions: ReturnType<typeof session>[], listedAt = now) => ({ now, online: { sessions, listedAt } });

  test("finds the session after the restart", () => {
    const next = session("ts_9", { started_at: at(-5) });
    const [back] = advance([away], online([next]));
    expect(back).toMatchObject({ phase: "Succeeded", newSession: { id: "ts_9" } });
    expect(back).not.toHaveProperty("agent");
  });

  test.each([
    ["is of another agent", session("ts_9", { started_at: at(-5), ip: "203.0.113.8" })],
    ["is older", session("ts_9", { started_at: at(-4000) })],
    ["was there before", session("ts_1", { started_at: at(-5) })],
    ["does not say when it began", session("ts_9", { started_at: null })],
  ])("does not take a session that %s", (_, other) => {
    expect(phases(advance([away], online([other])))).toEqual(["Returning"]);
  });

  test("gives two agents that look the same a session each", () => {
    const both = [away, { ...away, id: "ts_2" }];
    const [first, second] = advance(
      both,
      online([session("ts_8", { started_at: at(-4) }), session("ts_9", { started_at: at(-5) })]),
    );
    expect([first?.newSession?.id, second?.newSession?.id]).toEqual(["ts_9", "ts_8"]);
    expect(phases(advance(both, online([session("ts_9", { started_at: at(-5) })])))).toEqual([
      "Succeeded",
      "Returning",
    ]);
  });

  test("gives up when a list that began 5 minutes later has no such session, and commands no more agents", () => {
    const sessions = [away, result({ id: "ts_2" }), result({ id: "ts_3", phase: "Updated" })];
    const waiting = ["Returning", "Pending", "Updated"];
    expect(phases(advance(sessions, { now: now + 600_000 }))).toEqual(waiting);
    expect(phases(advance(sessions, online([], now + 289_000)))).toEqual(waiting);
    expect(phases(advance(sessions, online([], now + 290_000)))).toEqual(["NotReconnected", "NotSent", "NotSent"]);
  });
});
