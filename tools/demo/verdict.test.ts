import { describe, expect, it } from "vitest";
import { objectState, waitingState } from "./testing.ts";
import { complaints, verdictOf } from "./verdict.ts";

const expected = ["IPPolicy/office", "TCPEdge/git"];
const edge = { kind: "TCPEdge", name: "git" };
const office = objectState();
const cases = [
  { why: "all are Ready", objects: [office, objectState(edge)], verdict: "ready" },
  { why: "others do not count", objects: [office, objectState(edge), waitingState({ name: "x" })], verdict: "ready" },
  { why: "one waits", objects: [office, waitingState(edge)], verdict: "waiting" },
  { why: "one is not there", objects: [office], verdict: "waiting" },
  { why: "one was edited since", objects: [office, objectState({ ...edge, current: false })], verdict: "waiting" },
  {
    why: "one is stalled and one waits",
    objects: [waitingState(), waitingState({ ...edge, stalled: true })],
    verdict: "waiting",
  },
  { why: "the one left is stalled", objects: [office, waitingState({ ...edge, stalled: true })], verdict: "stuck" },
  {
    why: "the one that is stalled was edited since",
    objects: [office, waitingState({ ...edge, stalled: true, current: false })],
    verdict: "waiting",
  },
] as const;

describe("the verdict", () => {
  it.each(cases)("$verdict: $why", ({ objects, verdict }) => expect(verdictOf(expected, objects)).toBe(verdict));
});

describe("complaints", () => {
  it("name the objects that are not Ready, with what they say", () => {
    const stalled = waitingState({ ...edge, stalled: true, current: false });
    expect(complaints([...expected, "IPPolicy/gone"], [office, stalled])).toEqual([
      "TCPEdge/git: Ready is False, ReferenceNotReady: Waiting for another (stalled) " +
        "(the operator has not seen its last change)",
      "IPPolicy/gone: there is no such object",
    ]);
  });

  it("are none when all are Ready", () => expect(complaints(["IPPolicy/office"], [office])).toEqual([]));
});
