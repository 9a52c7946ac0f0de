import { expect, test } from "vitest";
import { Canaries, canary } from "./canaries.ts";

const value = canary();
const canaries = new Canaries();
canaries.add("it", value);

test.each([
  ["itself", value],
  ["a part of it", value.slice(2, 16)],
  ["JSON", JSON.stringify({ value })],
  ["JSON in JSON", JSON.stringify(JSON.stringify({ value }))],
  ["hexadecimal", Buffer.from(value).toString("hex")],
  ["base64", Buffer.from(value).toString("base64")],
  ["base64 of a longer text", Buffer.from(`a${value}`).toString("base64")],
  ["base64 of a still longer text", Buffer.from(`user:${value}\n`).toString("base64")],
])("finds a secret as %s", (_, text) => {
  expect(canaries.in(`before ${text} after`)).not.toEqual([]);
});

test("finds nothing in other texts", () => {
  expect(canaries.in([canary(), value.slice(0, 11), Buffer.from(canary()).toString("base64")].join(" "))).toEqual([]);
});
