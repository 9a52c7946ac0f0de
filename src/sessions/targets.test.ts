import { describe, expect, test } from "vitest";
import { mirrored, session } from "../../test/fakes/sessions/fake-service.ts";
import type { CommandSpec } from "./command.ts";
import { sessionName } from "./naming.ts";
import { initialResult, type KnownSessions, NoTargetError, targetsOf } from "./targets.ts";

const all = [session("ts_2"), session("ts_1"), session("ts_3", { region: "us" })];
const known: KnownSessions = {
  scope: { namespace: "gateway" },
  objects: all.map((one) => mirrored(one)),
  mirrored: true,
  online: new Map(all.map((one) => [one.id, one])),
};
const spec = (more: Partial<CommandSpec>): CommandSpec => ({ command: "Stop", maxConcurrent: 1, ...more });
const region = (value: string) => spec({ selector: { matchLabels: { "tunnelgateway.dev/region": value } } });

describe("targetsOf", () => {
  test("a selector finds sessions by labels, sorted by id", () => {
    expect(targetsOf(region("eu"), known)).toEqual(["ts_1", "ts_2"]);
  });

  test("a name or an id finds one session", () => {
    expect(targetsOf(spec({ sessionRef: { name: sessionName("ts_3") } }), known)).toEqual(["ts_3"]);
    expect(targetsOf(spec({ sessionRef: { id: "ts_x" } }), { ...known, mirrored: false })).toEqual(["ts_x"]);
  });

  test("a copy of a session's object, which somebody has made, does not choose the session again", () => {
    const copy = mirrored(session("ts_1"), { name: "copy", uid: "copy" });
    expect(targetsOf(region("eu"), { ...known, objects: [...known.objects, copy] })).toEqual(["ts_1", "ts_2"]);
    expect(() => targetsOf(spec({ sessionRef: { name: "copy" } }), { ...known, objects: [copy] })).toThrow(
      NoTargetError,
    );
  });

  test.each<[string, CommandSpec, Partial<KnownSessions>]>([
    ["no session has the labels", region("jp"), {}],
    ["the session has gone offline", region("us"), { online: new Map() }],
    ["no session has the name", spec({ sessionRef: { name: "x" } }), {}],
    [
      "the object belongs to somebody else",
      region("eu"),
      { objects: all.map((one) => mirrored(one, { labels: { "tunnelgateway.dev/region": "eu" } })) },
    ],
    ["the session is of another account", region("eu"), { objects: all.map((one) => mirrored(one, {}, "blue")) }],
    ["the object is in another namespace", region("eu"), { scope: { namespace: "team" } }],
    ["sessions are not mirrored", region("eu"), { mirrored: false }],
  ])("%s", (_, of, more) => expect(() => targetsOf(of, { ...known, ...more })).toThrow(NoTargetError));

  test("too many sessions are refused", () => {
    const many = Array.from({ length: 501 }, (_, at) => session(`ts_${at}`));
    const crowd = {
      ...known,
      objects: many.map((one) => mirrored(one)),
      online: new Map(many.map((one) => [one.id, one])),
    };
    expect(() => targetsOf(region("eu"), crowd)).toThrow("at most 500");
  });
});

test.each<[CommandSpec["command"], string, string]>([
  ["Restart", "windows", "Failed"],
  ["UpdateAndRestart", "Windows Server", "Failed"],
  ["Update", "windows", "Pending"],
  ["Stop", "windows", "Pending"],
  ["Restart", "darwin", "Pending"],
])("%s on %s begins as %s", (command, os, phase) => {
  expect(initialResult(spec({ command }), session("ts_1", { os })).phase).toBe(phase);
});
