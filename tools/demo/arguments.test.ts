import { describe, expect, it } from "vitest";
import { readArguments, UsageError } from "./arguments.ts";

describe("arguments", () => {
  it.each([
    [[], { once: false, timeoutSeconds: 120, help: false }],
    [["--once"], { once: true, timeoutSeconds: 120, help: false }],
    [["--once", "--timeout", "5"], { once: true, timeoutSeconds: 5, help: false }],
    [["--timeout=600"], { once: false, timeoutSeconds: 600, help: false }],
    [["-h"], { once: false, timeoutSeconds: 120, help: true }],
  ])("%j", (given, expected) => expect(readArguments(given)).toEqual(expected));

  it.each([[["--twice"]], [["here"]], [["--timeout"]], [["--timeout", "0"]], [["--timeout", "2m"]], [["--once=1"]]])(
    "%j is refused",
    (given) => expect(() => readArguments(given)).toThrow(UsageError),
  );
});
