import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { agentDigest, labelValue, sessionName } from "./naming.ts";

describe("sessionName", () => {
  test("is readable, and differs where ids differ in case only", () => {
    expect(sessionName("ts_2AbC")).toMatch(/^ts-2abc-[0-9a-f]{12}$/);
    expect(sessionName("ts_2AbC")).toBe(sessionName("ts_2AbC"));
    expect(sessionName("ts_2AbC")).not.toBe(sessionName("ts_2abc"));
    expect(sessionName("___")).toMatch(/^session-[0-9a-f]{12}$/);
  });

  test("is a DNS label for any id", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 300, unit: "grapheme" }), (id) => {
        expect(sessionName(id)).toMatch(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/);
      }),
    );
  });
});

describe("labelValue", () => {
  test.each([
    ["svc/v2", "svc-v2"],
    ["3.1.0-beta+7", "3.1.0-beta-7"],
    ["Windows 11", "Windows-11"],
    [" (x) ", "x"],
    [`${"x".repeat(62)}/y`, "x".repeat(62)],
    ["/", undefined],
    ["", undefined],
    [null, undefined],
  ])("%s is %s", (text, value) => expect(labelValue(text)).toBe(value));

  test("is accepted by Kubernetes, whatever the text", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 100, unit: "binary" }), (text) => {
        expect(labelValue(text) ?? "").toMatch(/^(([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9])?$/);
      }),
    );
  });
});

test("agents differ where their parts do, and not by how the parts are joined", () => {
  expect(agentDigest(["a", "b"])).not.toBe(agentDigest(["ab", ""]));
  expect(agentDigest(["a", null])).toBe(agentDigest(["a", ""]));
});
