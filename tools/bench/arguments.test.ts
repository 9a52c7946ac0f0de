import { describe, expect, it } from "vitest";
import { readArguments, UsageError } from "../shared/program.ts";
import { PHASES, program } from "./arguments.ts";

describe("the arguments of the bench", () => {
  it("has defaults for all", () => {
    const defaults = { objects: 2000, latency: [0, 50], repeat: 3, phases: PHASES };
    expect(readArguments(program, [])).toMatchObject(defaults);
  });

  it("has defaults for what is measured beside the Crossplane provider", () => {
    const defaults = { crossplaneObjects: 500, allowed: 120, minutes: 60, poll: "1m" };
    expect(readArguments(program, ["--crossplane"])).toMatchObject({ ...defaults, crossplane: true, peer: false });
    expect(readArguments(program, [])).toMatchObject({ ...defaults, crossplane: false });
  });

  it("goes through phases in their own order, each once", () => {
    expect(readArguments(program, ["--phases", "delete,create,delete"])?.phases).toEqual(["create", "delete"]);
  });

  it.each([
    ["a phase that there is not", ["--phases", "create,forget"]],
    ["no objects", ["--objects", "0"]],
    ["a phase of those beside the Crossplane provider", ["--phases", "fill"]],
    ["a service that answers nothing", ["--crossplane", "--allowed", "0"]],
    ["an interval without a unit", ["--crossplane", "--poll", "60"]],
    ["half a millisecond", ["--latency", "0.5"]],
    ["an unknown option", ["--quick"]],
  ])("refuses %s", (_, args) => {
    expect(() => readArguments(program, args)).toThrow(UsageError);
  });
});
