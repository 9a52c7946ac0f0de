import { describe, expect, test } from "vitest";
import { type Failure, GatewayError } from "../gateway/errors.ts";
import type { SessionCommand } from "../gateway/resources/index.ts";
import { answerOf } from "./answer.ts";
import { updateRefusal } from "./update-refusal.ts";

const error = (failure: Partial<Failure>) =>
  new GatewayError({ kind: "refused", method: "POST", route: "/", problem: "it failed", ...failure });

describe("updateRefusal", () => {
  test.each([
    ["NoUpdateAvailable", "No update is available"],
    ["NoUpdateAvailable", "no new version available for this agent"],
    ["NoUpdateAvailable", "The agent is up-to-date"],
    ["UpdateChecksDisabled", "The agent's configuration disables update checks"],
    ["UpdateChecksDisabled", "update checks are disabled by the agent"],
    ["Updating", "The agent is currently updating"],
    ["Updating", "an update is already in progress"],
    ["AwaitingRestart", "The agent already updated but has not restarted"],
    ["AwaitingRestart", "agent has been updated and awaits restart"],
    [undefined, "the moon is full"],
    [undefined, "No update: update checks are disabled, or a restart is needed"],
    [undefined, undefined],
  ])("%s: %s", (reason, message) => expect(updateRefusal(message)).toBe(reason));
});

describe("answerOf", () => {
  test.each<[string, SessionCommand, Partial<Failure>, object]>([
    ["the service was not reached", "stop", { kind: "unsent" }, { outcome: "nothing" }],
    ["too many requests", "stop", { kind: "limited", status: 429 }, { outcome: "nothing" }],
    ["the key is refused, so the request was not processed", "stop", { status: 401 }, { outcome: "nothing" }],
    ["no answer", "stop", { kind: "unknown" }, { outcome: "doubt", message: expect.any(String) }],
    ["an error of the service", "stop", { kind: "failed", status: 500 }, { outcome: "doubt" }],
    ["done, with an unreadable answer", "stop", { kind: "unreadable", status: 200 }, { outcome: "done" }],
    ["no such session", "stop", { status: 404 }, { outcome: "refusal", reason: "SessionOffline" }],
    ["no permission", "stop", { status: 403 }, { outcome: "refusal", reason: "Refused" }],
    ["a redirect", "stop", { kind: "redirected", status: 302 }, { outcome: "doubt" }],
    ["a proxy that gave up", "stop", { status: 408 }, { outcome: "doubt" }],
    [
      "a known reason",
      "update",
      { status: 400, serviceMessage: "No update is available" },
      { outcome: "refusal", reason: "NoUpdateAvailable", message: "No update is available" },
    ],
    [
      "an unknown reason is quoted",
      "update",
      { status: 409, serviceMessage: "The moon is full" },
      { outcome: "refusal", reason: "Refused", message: "The moon is full" },
    ],
    [
      "the reasons of an update do not apply to a restart",
      "restart",
      { status: 400, serviceMessage: "No update is available" },
      { outcome: "refusal", reason: "Refused" },
    ],
  ])("%s", (_, request, failure, answer) => expect(answerOf(request, error(failure))).toMatchObject(answer));

  test("an error before the call means that nothing was sent", () => {
    const notLeading = new Error("not the leader");
    expect(answerOf("stop", notLeading)).toEqual({ outcome: "nothing", error: notLeading });
  });
});
