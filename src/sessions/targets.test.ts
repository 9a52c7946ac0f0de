import { describe, expect, test } from "vitest";
import type { CommandSpec } from "./command.ts";
import { sessionName } from "./naming.ts";
import { begin, type Found, NoTarget, targetsOf } from "./targets.ts";
import { mirrored, session } from "./testing/fake-service.ts";

const all = [session("ts_2"), session("ts_1"), session("ts_3", { region: "us" })];
const found: Found = {
  objects: all.map((one) => mirrored(one)),
  mirrored: true,
  online: new Map(all.map((one) => [one.id, one])),
};
const spec = (more: Partial<CommandSpec>): CommandSpec => ({ command: "Stop", maxConcurrent: 1, ...more });
const region = (value: string) => spec({ selector: { matchLabels: { "tunnelgateway.dev/region": value } } });

describe("targetsOf", () => {
  test("a selector chooses by labels, in the order of ids", () => {
    expect(targetsOf(region("eu"), found)).toEqual(["ts_1", "ts_2"]);
  });

  test("a name and an id name one", () => {
    expect(targetsOf(spec({ sessionRef: { name: sessionName("ts_3") } }), found)).toEqual(["ts_3"]);
    expect(targetsOf(spec({ sessionRef: { id: "ts_x" } }), { ...found, mirrored: false })).toEqual(["ts_x"]);
  });

  test.each<[string, CommandSpec, Partial<Found>]>([
    ["nobody has the labels", region("jp"), {}],
    ["the session has gone offline", region("us"), { online: new Map() }],
    ["the name is that of no session", spec({ sessionRef: { name: "x" } }), {}],
    [
      "the object is somebody else's",
      region("eu"),
      { objects: all.map((one) => mirrored(one, { labels: { "tunnelgateway.dev/region": "eu" } })) },
    ],
    ["sessions are not mirrored", region("eu"), { mirrored: false }],
  ])("%s", (_, of, more) => expect(() => targetsOf(of, { ...found, ...more })).toThrow(NoTarget));

  test("too many are refused before anything is sent", () => {
    const many = Array.from({ length: 501 }, (_, at) => session(`ts_${at}`));
    const crowd = {
      ...found,
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
  expect(begin(spec({ command }), session("ts_1", { os })).phase).toBe(phase);
});
