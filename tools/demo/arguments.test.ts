import { describe, expect, it } from "vitest";
import { readArguments, UsageError } from "../shared/program.ts";
import { program } from "./arguments.ts";

describe("arguments", () => {
  it.each([
    [[], { once: false, timeout: 120 }],
    [["--once"], { once: true, timeout: 120 }],
    [["--once", "--timeout", "5"], { once: true, timeout: 5 }],
    [["--timeout=600"], { once: false, timeout: 600 }],
    [["-h"], undefined],
  ])("%j", (given, expected) => expect(readArguments(program, given)).toEqual(expected));

  it.each([[["--twice"]], [["here"]], [["--timeout"]], [["--timeout", "0"]], [["--timeout", "2m"]], [["--once=1"]]])(
    "%j is refused",
    (given) => expect(() => readArguments(program, given)).toThrow(UsageError),
  );
});
