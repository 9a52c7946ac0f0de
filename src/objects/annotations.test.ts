import { describe, expect, it } from "vitest";
import { annotations as names } from "../schema/contract.ts";
import { type Answer, annotationProblems, answerOf, type Switch, writtenForOperator } from "./annotations.ts";

const objectWith = (annotations: Record<string, string>, labels: Record<string, string> = {}, kind = "TCPEdge") => ({
  kind,
  metadata: { annotations, labels },
});

const switches: Switch[] = ["paused", "orphan"];

describe.each(switches)("the annotation %s", (name) => {
  const key = names[name];

  it.each<[string, Answer]>([
    ["true", "yes"],
    ["false", "no"],
    ["False", "no"],
    ["no", "no"],
    ["off", "no"],
    ["0", "no"],
    ["True", "unclear"],
    ["TRUE", "unclear"],
    ["yes", "unclear"],
    ["on", "unclear"],
    ["1", "unclear"],
    [" true", "unclear"],
    ["", "unclear"],
    ["until Friday", "unclear"],
  ])("%j says %s", (value, answer) => {
    const object = objectWith({ [key]: value });
    expect(answerOf(object, name)).toBe(answer);
    expect(annotationProblems(object).length).toBe(answer === "unclear" ? 1 : 0);
  });

  it("says no when it is not there", () => {
    expect(answerOf({ metadata: {} }, name)).toBe("no");
  });

  it("is unclear under another spelling and as a label, unless it is there as well", () => {
    const spelt = key.replace(name, name.toUpperCase());
    expect(answerOf(objectWith({ [spelt]: "true" }), name)).toBe("unclear");
    expect(answerOf(objectWith({}, { [key]: "true" }), name)).toBe("unclear");
    expect(answerOf(objectWith({}, { [key]: "false" }), name)).toBe("no");
    expect(answerOf(objectWith({ [key]: "false" }, { [key]: "true" }), name)).toBe("no");
    expect(annotationProblems(objectWith({ [spelt]: "true" }))).toHaveLength(1);
    expect(annotationProblems(objectWith({}, { [key]: "true" }))).toEqual([
      expect.stringContaining(`Write it as the annotation ${key} instead: the label ${key} has no effect`),
    ]);
  });
});

describe("what is told", () => {
  it.each<[string, Parameters<typeof objectWith>, string[]]>([
    ["nothing of what the operator knows", [Object.fromEntries(Object.values(names).map((n) => [n, "a/b"]))], []],
    ["nothing of others", [{ "kubectl.kubernetes.io/paused": "yes" }, { "example.com/orphan": "True" }], []],
    [
      "a value that may mean yes, shortened",
      [{ [names.orphan]: `True${"x".repeat(100)}` }],
      [
        `Write "true" or "false" in the annotation ${names.orphan}: "True${"x".repeat(36)}" is neither, and the remote is not deleted until then`,
      ],
    ],
    [
      "an unknown name, without its value",
      [{ "tunnelgateway.dev/orphaned": "s3cret" }],
      [
        "Correct or remove the annotation tunnelgateway.dev/orphaned: the operator knows no such name, and it has no effect",
      ],
    ],
    [
      "a target that is no object",
      [{ [names.releaseTo]: "office" }],
      [`Write <namespace>/<name> in the annotation ${names.releaseTo}: it names no object`],
    ],
    ["an object of another cluster is one", [{ [names.releaseTo]: "prod/team-b/office" }], []],
    [
      "what means nothing on a GatewayAccount",
      [{ [names.paused]: "true", [names.orphan]: "true" }, {}, "GatewayAccount"],
      [`Remove the annotation ${names.paused}: it has no effect on a GatewayAccount`],
    ],
  ])("%s", (_, given, expected) => {
    const [all = {}, labels, kind] = given;
    const object = objectWith(
      // the two switches have values of their own
      all[names.paused] === "a/b" ? { ...all, [names.paused]: "true", [names.orphan]: "false" } : all,
      labels,
      kind,
    );
    expect(annotationProblems(object)).toEqual(expected);
  });
});

it("is looked at again when any of it changes, but not when the operator writes", () => {
  expect(writtenForOperator(objectWith({ [names.createIntent]: "x" }))).toEqual({});
  expect(
    writtenForOperator(
      objectWith({ [names.paused]: "yes", "tunnelgateway.dev/x": "1", other: "2" }, { [names.orphan]: "true", a: "b" }),
    ),
  ).toEqual({ [names.orphan]: "true", [names.paused]: "yes", "tunnelgateway.dev/x": "1" });
});
