import { describe, expect, test } from "vitest";
import { readListing, readOne, readOptional, UnreadableAnswer } from "./read.ts";
import { reservedDomains, tcpEdgePolicy, tunnelGroupBackends } from "./resources/index.ts";

const failure = (read: () => unknown): UnreadableAnswer => {
  try {
    read();
  } catch (error) {
    if (error instanceof UnreadableAnswer) return error;
    throw error;
  }
  throw new Error("it was read");
};

describe("readOne", () => {
  const { wire } = reservedDomains;

  test("needs an id only, and keeps no member that nobody reads", () => {
    expect(readOne(wire, `{"id":"rd_1","domain":null,"brand_new":{"a":1}}`)).toEqual({
      id: "rd_1",
      domain: null,
    });
  });

  test.each([
    ["", "the answer is empty", undefined],
    ["<html>", "the answer is not JSON", undefined],
    [`{"id":"rd_1"`, "the answer is not JSON", undefined],
    ["null", "the answer is not as expected", undefined],
    ["[]", "the answer is not as expected", undefined],
    ["{}", "member id is not as expected", undefined],
    [`{"id":""}`, "member id is not as expected", undefined],
    [`{"id":7}`, "member id is not as expected", undefined],
    [`{"id":"${"x".repeat(257)}"}`, "member id is not as expected", undefined],
    [`{"id":"rd_1","domain":7}`, "member domain is not as expected", "rd_1"],
    [`{"id":"rd_1","certificate":{"id":7}}`, "member certificate.id is not as expected", "rd_1"],
  ])("says what is wrong with %j", (body, problem, id) => {
    const error = failure(() => readOne(wire, body));
    expect(error.message).toContain(problem);
    expect(error.id).toBe(id);
  });

  test("names members and types, never values", () => {
    const error = failure(() => readOne(wire, `{"id":"rd_1","domain":{"token":"hunter2"}}`));
    expect(error.message).toBe("member domain is not as expected: Invalid input: expected string, received object");
  });
});

describe("readOptional", () => {
  test.each([
    ["", null],
    [" null\n", null],
    [`{"enabled":false,"inbound":[]}`, { enabled: false, inbound: [] }],
  ])("reads %j", (body, expected) => {
    expect(readOptional(tcpEdgePolicy.wire, body)).toEqual(expected);
  });
});

describe("readListing", () => {
  const read = (body: unknown) => readListing("backends", tunnelGroupBackends.wire, JSON.stringify(body));

  test("returns the readable rows and the problems of the others", () => {
    const rows = [{ id: "a" }, { id: "b", labels: "x" }, { labels: {} }, 7, { id: "c", tunnels: null }];
    const listing = read({ backends: rows, uri: "/backends/tunnel_group", next_page_uri: null });
    expect(listing.rows.map(({ id }) => id)).toEqual(["a", "c"]);
    expect(listing.problems.map(({ id }) => id)).toEqual(["b", undefined, undefined]);
    expect(listing.problems[0]?.problem).toContain("member labels");
  });

  test("puts names of members that come from the service on one line", () => {
    const { problems } = read({ backends: [{ id: "b", labels: { "a\nb": 1 } }] });
    expect(problems[0]?.problem).not.toMatch(/\n/);
  });

  test.each([
    [{ backends: [], next_page_uri: "/x" }, "/x"],
    [{ backends: [], next_page_uri: null }, undefined],
    [{ backends: [], next_page_uri: "" }, undefined],
    [{ backends: [] }, undefined],
    [{ backends: null }, undefined],
  ])("finds the next page of %j", (body, next) => {
    expect(read(body)).toEqual({ rows: [], problems: [], next });
  });

  test.each([
    [{}, "member backends is not a list"],
    [{ keys: [] }, "member backends is not a list"],
    [{ backends: {} }, "member backends is not a list"],
    [{ backends: [], next_page_uri: 2 }, "member next_page_uri"],
    [[], "the answer is not as expected"],
  ])("does not read %j as an empty list", (body, problem) => {
    expect(failure(() => read(body)).message).toContain(problem);
  });
});
