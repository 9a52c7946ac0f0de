import { describe, expect, test } from "vitest";
import { type Failure, GatewayError } from "../gateway/errors.ts";
import { answerOf, type Request } from "./answer.ts";
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
  test.each<[string, Request, Partial<Failure>, object]>([
    ["it never got there", "stop", { kind: "unsent" }, { got: "nothing" }],
    ["too many requests", "stop", { kind: "limited", status: 429 }, { got: "nothing" }],
    ["the key is refused, so nobody looked at it", "stop", { status: 401 }, { got: "nothing" }],
    ["no answer", "stop", { kind: "unknown" }, { got: "doubt", message: expect.any(String) }],
    ["an error of the service", "stop", { kind: "failed", status: 500 }, { got: "doubt" }],
    ["done, with an odd answer", "stop", { kind: "unreadable", status: 200 }, { got: "done" }],
    ["gone", "stop", { status: 404 }, { got: "refusal", reason: "SessionOffline" }],
    ["no permission", "stop", { status: 403 }, { got: "refusal", reason: "Refused" }],
    ["sent elsewhere", "stop", { kind: "redirected", status: 302 }, { got: "refusal", reason: "Refused" }],
    [
      "a stated reason",
      "update",
      { status: 400, serviceMessage: "No update is available" },
      { got: "refusal", reason: "NoUpdateAvailable", message: "No update is available" },
    ],
    [
      "a reason that is not stated is quoted",
      "update",
      { status: 409, serviceMessage: "The moon is full" },
      { got: "refusal", reason: "Refused", message: "The moon is full" },
    ],
    [
      "the words of an update mean nothing for a restart",
      "restart",
      { status: 400, serviceMessage: "No update is available" },
      { got: "refusal", reason: "Refused" },
    ],
  ])("%s", (_, request, failure, answer) => expect(answerOf(request, error(failure))).toMatchObject(answer));

  test("what was thrown before the call is not sent", () => {
    const notLeading = new Error("not the leader");
    expect(answerOf("stop", notLeading)).toEqual({ got: "nothing", error: notLeading });
  });
});
