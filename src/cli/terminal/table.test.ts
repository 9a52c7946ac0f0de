import { expect, test } from "vitest";
import { table } from "./table.ts";

const rows = [
  ["one", "True"],
  ["a-longer-name", "False"],
];

test("columns are as wide as their longest cell, and no line ends in blanks", () => {
  expect(table(["Name", "Ready"], rows)).toEqual([
    "NAME            READY",
    "one             True",
    "a-longer-name   False",
  ]);
});

test("headings are left out on request", () => {
  expect(table(["Name", "Ready"], rows, { noHeaders: true })).toEqual([
    "one             True",
    "a-longer-name   False",
  ]);
});

test("on a terminal that is too narrow, the last cell stands below the others", () => {
  const lines = table(["Name", "Ready"], rows, { columns: 14 });
  expect(lines).toEqual(["NAME", "one", "    True", "a-longer-name", "    False"]);
});

test("a row that is too wide without it is cut", () => {
  const lines = table(["Name", "Ready"], rows, { columns: 10 });
  expect(lines).toEqual(["NAME", "one", "    True", "a-longer-…", "    False"]);
});
