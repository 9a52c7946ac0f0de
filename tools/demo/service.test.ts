import { describe, expect, it } from "vitest";
import { plain } from "./screen/line.ts";
import { type Health, healthAfter, healthChange } from "./service.ts";

const answers = (...statuses: (number | null)[]) => statuses.map((status) => ({ status }));

describe("how the service answers", () => {
  it.each<[statuses: (number | null)[], health: Health]>([
    [[200, null], "silent"],
    [[503], "failing"],
    [[200, 429], "throttling"],
    [[401], "refusing"],
    [[403], "refusing"],
    [[503, 404], "well"],
  ])("after %j it is %s", (statuses, health) => expect(healthAfter("well", answers(...statuses))).toBe(health));

  it("is as it was while nothing is sent", () => expect(healthAfter("silent", [])).toBe("silent"));

  it("is a line when it changes, and only then", () => {
    expect(healthChange("well", "refusing").map(plain)).toEqual([
      "service  refuses the API key. Nothing is sent until it is right",
    ]);
    expect(healthChange("silent", "well").map(plain)).toEqual(["service  answers again"]);
    expect(healthChange("silent", "silent")).toEqual([]);
  });
});
