import { describe, expect, it } from "vitest";
import {
  adviceAndAnswerIn,
  answerUnexpected,
  changeRefused,
  notPermitted,
  quotaExceeded,
  secretsRefused,
  serviceUnavailable,
  specRefused,
} from "./service.ts";

const answer = "ports: 7 is taken: the service refused it";

describe("the answer of the service in a message", () => {
  it.each([
    ["a quota", quotaExceeded({ answer })],
    ["a missing permission", notPermitted({ answer })],
    ["a refused spec", specRefused({ answer })],
    ["refused Secrets", secretsRefused({ names: ["one", "two"], answer })],
    ["a refused change", changeRefused({ fields: "spec.format", title: "event destination", answer })],
    ["a refused change of what has a name", changeRefused({ fields: "spec.format", title: undefined, answer })],
  ])("about %s is its end", (_, { message }) => {
    expect(adviceAndAnswerIn(message)).toEqual({ wayOut: message.slice(0, -`: ${answer}`.length), answer });
  });

  it.each([
    serviceUnavailable({ answer }).message,
    answerUnexpected({ answer: "GET /: 404" }).message,
    'Create TunnelGroupBackend "db" in this namespace',
  ])("is nowhere in %s", (message) => {
    expect(adviceAndAnswerIn(message)).toBeUndefined();
  });
});
