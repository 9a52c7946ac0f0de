import { expect, it } from "vitest";
import { readArguments, UsageError } from "../shared/program.ts";
import { program } from "./arguments.ts";

it("reads places", () => {
  expect(readArguments(program, [])).toMatchObject({ at: [] });
  expect(readArguments(program, ["--at", "src/a.ts:12,src/b.ts:3"])).toMatchObject({
    at: [
      { file: "src/a.ts", line: 12 },
      { file: "src/b.ts", line: 3 },
    ],
  });
});

it.each(["src/a.ts", "src/a.ts:", "12", "src/a.ts:12,"])("refuses %s as a place", (text) => {
  expect(() => readArguments(program, ["--at", text])).toThrow(UsageError);
});
