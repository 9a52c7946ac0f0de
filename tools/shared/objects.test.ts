import { describe, expect, it } from "vitest";
import { conditionOf, isReady, manifest, nameOf } from "./objects.ts";

const object = (status?: object) => ({ ...manifest("IPPolicy", "office", {}, { generation: 2 }), status });
const ready = (status: string) => ({ type: "Ready", status });

describe("an object", () => {
  it.each([
    ["is not Ready without a status", object(), false],
    [
      "is not Ready where its condition is about an earlier spec",
      object({ observedGeneration: 1, conditions: [ready("True")] }),
      false,
    ],
    [
      "is not Ready where its condition is False",
      object({ observedGeneration: 2, conditions: [ready("False")] }),
      false,
    ],
    [
      "is Ready where its condition is True for its present spec",
      object({ observedGeneration: 2, conditions: [ready("True")] }),
      true,
    ],
    ["is not Ready where there is none", undefined, false],
  ])("%s", (_, given, expected) => expect(isReady(given)).toBe(expected));

  it("has a name and conditions", () => {
    expect(nameOf(object())).toBe("IPPolicy/office");
    expect(conditionOf(object({ conditions: [ready("Unknown")] }), "Ready")).toEqual(ready("Unknown"));
    expect(conditionOf(object(), "Ready")).toBeUndefined();
  });
});
