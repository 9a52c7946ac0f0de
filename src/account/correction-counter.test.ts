import { beforeEach, describe, expect, it } from "vitest";
import type { ManagedObject } from "../objects/object.ts";
import { VirtualClock } from "../runtime/testing/virtual-clock.ts";
import { CorrectionCounter } from "./correction-counter.ts";

let clock: VirtualClock;
let corrections: CorrectionCounter;

beforeEach(() => {
  clock = new VirtualClock();
  corrections = new CorrectionCounter(clock);
});

const object = (generation = 1, uid = "u"): ManagedObject => ({
  apiVersion: "tunnelgateway.dev/v1",
  kind: "IPPolicy",
  metadata: { name: "a", namespace: "n", uid, generation },
  spec: {},
});

describe("Corrections", () => {
  it("counts the same correction of the same object", () => {
    expect(corrections.note(object(), ["labels"], true)).toBe(1);
    expect(corrections.note(object(), ["labels"], true)).toBe(2);
    expect(corrections.rounds(object(), ["labels"])).toBe(2);
  });

  it.each([
    ["other fields", object(), ["description"]],
    ["another generation", object(2), ["labels"]],
    ["another object", object(1, "other"), ["labels"]],
  ])("counts %s by themselves", (_, other, fields) => {
    corrections.note(object(), ["labels"], true);
    expect(corrections.rounds(other, fields)).toBe(0);
  });

  it("forgets what held", () => {
    corrections.note(object(), ["labels"], true);
    expect(corrections.note(object(), ["labels"], false)).toBe(0);
    expect(corrections.rounds(object(), ["labels"])).toBe(0);
  });

  it("forgets after an hour without", async () => {
    corrections.note(object(), ["labels"], true);
    await clock.advance(59 * 60_000);
    expect(corrections.rounds(object(), ["labels"])).toBe(1);
    await clock.advance(60_000);
    expect(corrections.rounds(object(), ["labels"])).toBe(0);
  });

  it("forgets an object that is no more", () => {
    corrections.note(object(), ["labels"], true);
    corrections.forget("u");
    expect(corrections.rounds(object(), ["labels"])).toBe(0);
  });
});
