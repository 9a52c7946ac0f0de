import { expect, it } from "vitest";
import { readArguments, UsageError } from "../shared/program.ts";
import { program } from "./arguments.ts";

it("reads a place", () => {
  expect(readArguments(program, ["--at", "src/a.ts:12"])).toMatchObject({ at: { file: "src/a.ts", line: 12 } });
});

it.each(["src/a.ts", "src/a.ts:", "12"])("refuses %s as a place", (text) => {
  expect(() => readArguments(program, ["--at", text])).toThrow(UsageError);
});
