import { describe, expect, it } from "vitest";
import { changes } from "./changes.ts";
import { plain } from "./screen/line.ts";
import { objectState, waitingState } from "./testing.ts";

const lines = (...given: Parameters<typeof changes>) =>
  changes(...given).map((line) => plain(line).replace(/ {2,}/g, "  "));
const office = objectState();

describe("changes", () => {
  it("are none when nothing changed", () => expect(lines([office], [objectState()])).toEqual([]));

  it("show an object that came", () => {
    expect(lines([], [office])).toEqual(["IPPolicy/office  ✓ True  Available  ipp_1"]);
  });

  it("show the message of what is not Ready", () => {
    const waiting = waitingState();
    expect(lines([office], [waiting])).toEqual(["IPPolicy/office  · False  ReferenceNotReady  Waiting for another"]);
  });

  it("show an edit, even when nothing else is different", () => {
    expect(lines([office], [objectState({ generation: 2 })])).toEqual([
      "IPPolicy/office  ✓ True  Available  ipp_1  edited (generation 2)",
    ]);
  });

  it("tell a deletion from an edit", () => {
    expect(lines([office], [objectState({ generation: 2, deleting: true })])).toEqual([
      "IPPolicy/office  ✓ True  Available  ipp_1  being deleted",
    ]);
  });

  it("show an object that went", () => expect(lines([office], [])).toEqual(["IPPolicy/office  is gone"]));
});
