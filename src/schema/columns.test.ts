import { describe, expect, it } from "vitest";
import { customResources, kinds } from "../kinds/index.ts";
import { columnTexts, message, messageWidth, shortText, shownMessage, textColumn } from "./columns.ts";
import { columnsOf, initialStatus } from "./common.ts";
import { GROUP } from "./contract.ts";

describe("shortText", () => {
  it.each([
    [undefined, ""],
    [null, ""],
    [[], ""],
    [{}, ""],
    ["a text", "a text"],
    ["of two\nlines", "of two lines"],
    [["a", "b"], "a,b"],
    [{ app: "db", role: "replica" }, "app=db,role=replica"],
    ["twenty characters ---", "twenty characters -…"],
    [["one", "two", "three", "four", "five"], "one,two,three +2"],
    [["a name without any end", "b", "c"], "a name without a… +2"],
    [["twenty characters --", "b"], "twenty character… +1"],
  ])("shows %j as %j in 20 characters", (value, text) => {
    expect(shortText(value, 20)).toBe(text);
  });
});

describe("columnTexts", () => {
  const columns = [
    { name: "Status", jsonPath: ".status.code" },
    textColumn("Labels", { width: 12, value: ({ spec }) => spec["labels"] }),
    textColumn("CNAME", { width: 12, value: ({ status }) => status["target"], instead: "see -o wide" }),
  ];

  it("makes the text of each column that has one", () => {
    const shown = { spec: { labels: { a: "b" } }, status: { target: "x.example" } };
    expect(columnTexts(columns, shown)).toEqual({ labels: "a=b", cname: "x.example" });
  });

  it("leaves out what is empty, and does not cut what is of no use when it is cut", () => {
    expect(columnTexts(columns, { spec: {}, status: { target: "long.target.example" } })).toEqual({
      cname: "see -o wide",
    });
  });
});

const GAP = 3;
/** Characters for the namespace and the name of an object. */
const NAMES = 20;

it.each(kinds)("a line of `kubectl get tunnelgateway -A` has at most 160 characters: $kind", (kind) => {
  const shown = columnsOf(kind).filter(({ wide }) => !wide);
  const own = shown.reduce((sum, { name, width = name.length }) => sum + GAP + width, 0);
  expect(NAMES + GAP + `${kind.kind}.${GROUP}/`.length + own).toBeLessThanOrEqual(160);
});

it.each(customResources)("`kubectl get -o wide` has room for what a message begins with: $kind", ({ columns }) => {
  expect(messageWidth(columns)).toBeGreaterThanOrEqual(columns.includes(message) ? 36 : 0);
});

it.each(kinds)("`kubectl get -o wide` shows all of what is usually said: $kind", (kind) => {
  const managed = { certificate_management_policy: {}, certificate: {} };
  const columns = columnsOf(kind);
  for (const { readiness } of [kind.readiness({}, 0), kind.readiness(managed, 0)])
    if ("message" in readiness) expect(shownMessage(columns, readiness.message)).toBe(readiness.message);
});

it.each(kinds)("`kubectl get -o wide` shows all of what a new object says: $kind", (kind) => {
  const { conditions, columns } = initialStatus(columnsOf(kind));
  expect(columns.message).toBe(conditions[0]?.message);
});

it.each(customResources)("no two columns show the same field: $kind", ({ columns }) => {
  const paths = columns.map((column) => ("value" in column ? String(column.value) : column.jsonPath));
  expect(new Set(paths).size).toBe(paths.length);
});

/** Fields of the spec or the status whose values are always short. */
const SHORT =
  /^\.spec\.(command|format)$|^\.status\.(completions|failed|unknown|statusCode|tunnelCount|region|os|transport|agentVersion|ip|startedAt|baseURL|conditions\[.*)$|^\.metadata/;

it.each(customResources)("what may be long, or a list, is shortened: $kind", ({ columns }) => {
  const raw = columns.filter((column) => !("width" in column) && !column.jsonPath.startsWith(".status.columns."));
  expect(raw.map(({ jsonPath }) => jsonPath).filter((path) => !SHORT.test(path))).toEqual([]);
});

it.each(kinds)("an object without the fields that it needs, such as an old one, has no texts: $kind", ({ columns }) => {
  expect(columnTexts(columns, { spec: {}, status: {} })).toEqual({});
});
