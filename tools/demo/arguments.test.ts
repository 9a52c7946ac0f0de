import { describe, expect, it } from "vitest";
import { readArguments, UsageError } from "../shared/program.ts";
import { program } from "./arguments.ts";

describe("arguments", () => {
  it.each([
    [[], { once: false, dns: false, timeout: 120 }],
    [["--once"], { once: true, dns: false, timeout: 120 }],
    [["--dns"], { once: false, dns: true, timeout: 120 }],
    [["--once", "--timeout", "5"], { once: true, dns: false, timeout: 5 }],
    [["--timeout=600", "--dns"], { once: false, dns: true, timeout: 600 }],
    [["-h"], undefined],
  ])("%j", (given, expected) => expect(readArguments(program, given)).toEqual(expected));

  it.each([[["--twice"]], [["here"]], [["--timeout"]], [["--timeout", "0"]], [["--timeout", "2m"]], [["--once=1"]]])(
    "%j is refused",
    (given) => expect(() => readArguments(program, given)).toThrow(UsageError),
  );
});
