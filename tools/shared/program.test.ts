import { describe, expect, it } from "vitest";
import {
  asText,
  defineProgram,
  flag,
  listOf,
  positiveNumber,
  readArguments,
  UsageError,
  usageOf,
  wholeNumber,
} from "./program.ts";

const program = defineProgram({
  command: "npm run something",
  about: "Does something.",
  options: {
    once: flag("end after it"),
    bigObjects: { value: "n", about: "so many", initial: 10, read: wholeNumber(1) },
    latency: { value: "ms,ms", about: "of the service", initial: [0, 50], read: listOf(wholeNumber()) },
    minutes: { value: "n", about: "of it", initial: 30, initially: "half an hour", read: positiveNumber },
    json: { value: "file", about: "write it there", initial: undefined, read: asText },
    route: {
      value: "name",
      about: "may be given several times",
      initial: [] as readonly string[],
      read: (text: string, before: readonly string[]) => [...before, text],
    },
  },
});

const defaults = { once: false, bigObjects: 10, latency: [0, 50], minutes: 30, json: undefined, route: [] };

describe("the arguments of a program", () => {
  it.each([
    [[], {}],
    [["--once", "--big-objects", "3"], { once: true, bigObjects: 3 }],
    [["--big-objects=3", "--big-objects=4"], { bigObjects: 4 }],
    [["--latency", "1"], { latency: [1] }],
    [["--minutes", "0.5"], { minutes: 0.5 }],
    [["--json", "out.json"], { json: "out.json" }],
    [["--route", "a", "--route", "b"], { route: ["a", "b"] }],
  ])("%j", (args, expected) => {
    expect(readArguments(program, args)).toEqual({ ...defaults, ...expected });
  });

  it.each(["-h", "--help"])("%s asks for the usage", (help) => {
    expect(readArguments(program, ["--once", help])).toBeUndefined();
  });

  it.each([
    [["--twice"], "Unknown option '--twice'"],
    [["here"], "Unexpected argument 'here'"],
    [["--json"], "Option '--json <value>' argument missing"],
    [["--json", "--once"], "Option '--json' argument is ambiguous"],
    [["--once=1"], "Option '--once' does not take an argument"],
    [["--big-objects", "many"], "--big-objects must be a whole number"],
    [["--big-objects", "0"], "--big-objects must be at least 1"],
    [["--latency", "1,0.5"], "--latency must be a whole number"],
    [["--minutes", "0"], "--minutes must be more than 0"],
  ])("%j is refused in one line", (args, message) => {
    expect(() => readArguments(program, args)).toThrow(new UsageError(message));
  });

  it("are told by the usage", () => {
    expect(usageOf(program)).toBe(`npm run something [options]

Does something.

  --once             end after it
  --big-objects <n>  so many (default 10)
  --latency <ms,ms>  of the service (default 0,50)
  --minutes <n>      of it (default half an hour)
  --json <file>      write it there
  --route <name>     may be given several times`);
  });
});
