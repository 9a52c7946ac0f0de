import { describe, expect, it } from "vitest";
import { objectState, waitingState } from "../testing.ts";
import { plain } from "./line.ts";
import { report } from "./report.ts";

const text = (...given: Parameters<typeof report>) => report(...given).map(plain);

describe("the report", () => {
  it("is one line when all is well", () => {
    const end = { verdict: "ready", objects: [objectState()], seconds: 5.23 } as const;
    expect(text(end, ["IPPolicy/office"], "a log")).toEqual(["", "  ✓ all 1 objects are Ready after 5.2 s"]);
  });

  it.each([
    ["waiting", "and the time is over"],
    ["stuck", "and waiting is of no use"],
  ] as const)("says why it ended (%s), with objects and log", (verdict, why) => {
    expect(text({ verdict, objects: [waitingState()], seconds: 120 }, ["IPPolicy/office"], "one\ntwo")).toEqual([
      "",
      `  ✗ not all objects are Ready after 120.0 s, ${why}`,
      "    IPPolicy/office: Ready is False, ReferenceNotReady: Waiting for another",
      "\n  Last lines of the operator's log",
      "    one",
      "    two",
    ]);
  });
});
