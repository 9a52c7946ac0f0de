import { expect, it } from "vitest";
import { settings, testsFor } from "./settings.ts";

it("changes folders and files, and no tests", () => {
  expect(settings(["src/account", "src/objects/intent.ts"], { folder: "/there", concurrency: 1 }).mutate).toEqual([
    ...["src/account/**/*.ts", "src/objects/intent.ts"],
    "!**/*.test.ts",
  ]);
});

it("runs the tests of the rooms that decide, and of the room that is changed", () => {
  const three = ["reconcile", "account", "objects"].map((room) => `src/${room}/**/*.test.ts`);
  expect(testsFor(["src/account"])).toEqual(three);
  expect(testsFor(["src/schema/contract.ts", "src/config.ts"])).toEqual([...three, "src/schema/**/*.test.ts"]);
});
