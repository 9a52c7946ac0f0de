import { describe, expect, it } from "vitest";
import { objectState, waitingState } from "../testing.ts";
import { plain } from "./line.ts";
import { readyTable } from "./ready-table.ts";

const objects = [
  objectState({ name: "office" }),
  objectState({ name: "vpn", id: "ipp_2" }),
  waitingState({ kind: "TCPEdge", name: "git" }),
];
const table = (rows: number, of = objects) => readyTable(of, { rows }).map(plain);

const HEADINGS = "  KIND      NAME    READY    REASON             ID";
const EDGE = "  TCPEdge   git     · False  ReferenceNotReady";
const MESSAGE = "    Waiting for another";

describe("the table", () => {
  it("shows the message of what is not Ready", () => {
    expect(table(24)).toEqual([
      HEADINGS,
      "  IPPolicy  office  ✓ True   Available          ipp_1",
      "  IPPolicy  vpn     ✓ True   Available          ipp_2",
      EDGE,
      MESSAGE,
    ]);
  });

  it("leaves messages out first", () => {
    const lines = table(4);
    expect(lines).toHaveLength(4);
    expect(lines).not.toContain(MESSAGE);
  });

  it("leaves out what is Ready next", () => {
    const short = ["  KIND     NAME  READY    REASON             ID", "  TCPEdge  git   · False  ReferenceNotReady"];
    expect(table(3)).toEqual([...short, "  and 2 that are Ready"]);
  });

  it.each([1, 2, 3, 4, 5, 10])("never has more than %i lines", (rows) => {
    const many = Array.from({ length: 20 }, (_, at) => (at % 2 ? objectState : waitingState)({ name: `n${at}` }));
    expect(table(rows, many).length).toBeLessThanOrEqual(rows);
  });

  it("has no headings without rows", () => {
    expect(table(2, [objectState(), objectState(), objectState()])).toEqual(["  and 3 that are Ready"]);
    expect(table(2, [])).toEqual([]);
  });

  it("tells apart what waits from what is stalled", () => {
    expect(table(9, [waitingState({ stalled: true })])[1]).toContain("✗ False");
  });
});
