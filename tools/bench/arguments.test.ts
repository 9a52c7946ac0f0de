import { describe, expect, it } from "vitest";
import { PHASES, readArguments, UsageError } from "./arguments.ts";

describe("the arguments of the bench", () => {
  it("has defaults for all", () => {
    expect(readArguments([])).toMatchObject({ objects: 2000, latencies: [0, 50], repeat: 3, phases: PHASES });
  });

  it("goes through phases in their own order, each once", () => {
    expect(readArguments(["--phases", "delete,create,delete"]).phases).toEqual(["create", "delete"]);
  });

  it.each([
    ["a phase that there is not", ["--phases", "create,forget"]],
    ["no objects", ["--objects", "0"]],
    ["half a millisecond", ["--latency", "0.5"]],
    ["an unknown option", ["--quick"]],
  ])("refuses %s", (_, args) => {
    expect(() => readArguments(args)).toThrow(UsageError);
  });
});
