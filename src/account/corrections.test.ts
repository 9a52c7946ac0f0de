import { beforeEach, describe, expect, it } from "vitest";
import { VirtualClock } from "../../test/fakes/runtime/virtual-clock.ts";
import type { ManagedObject } from "../objects/object.ts";
import { Corrections } from "./corrections.ts";

let clock: VirtualClock;
let corrections: Corrections;

beforeEach(() => {
  clock = new VirtualClock();
  corrections = new Corrections(clock);
});

const object = (generation = 1): ManagedObject => ({
  apiVersion: "tunnelgateway.dev/v1",
  kind: "IPPolicy",
  metadata: { name: "a", namespace: "n", uid: "u", generation },
  spec: {},
});

describe("Corrections", () => {
  it("counts the same correction of the same object", () => {
    expect(corrections.record(object(), ["labels"], true)).toBe(1);
    expect(corrections.record(object(), ["labels"], true)).toBe(2);
    expect(corrections.count(object(), ["labels"])).toBe(2);
  });

  it.each([
    ["other fields", object(), ["description"]],
    ["another generation", object(2), ["labels"]],
  ])("counts %s by themselves", (_, other, fields) => {
    corrections.record(object(), ["labels"], true);
    expect(corrections.count(other, fields)).toBe(0);
  });

  it("forgets a correction that held", () => {
    corrections.record(object(), ["labels"], true);
    expect(corrections.record(object(), ["labels"], false)).toBe(0);
    expect(corrections.count(object(), ["labels"])).toBe(0);
  });

  it("forgets a correction that was not repeated for an hour", async () => {
    corrections.record(object(), ["labels"], true);
    await clock.advance(59 * 60_000);
    expect(corrections.count(object(), ["labels"])).toBe(1);
    await clock.advance(60_000);
    expect(corrections.count(object(), ["labels"])).toBe(0);
  });

  it("goes on counting while each correction comes within an hour of the last one", async () => {
    for (const count of [1, 2, 3]) {
      expect(corrections.record(object(), ["labels"], true)).toBe(count);
      await clock.advance(59 * 60_000);
    }
    await clock.advance(60_000);
    expect(corrections.record(object(), ["labels"], true)).toBe(1);
  });

  it("starts anew when other fields are corrected", () => {
    corrections.record(object(), ["labels"], true);
    corrections.record(object(), ["labels"], true);
    expect(corrections.record(object(), ["description"], true)).toBe(1);
  });

  it("goes on counting when other fields are corrected in between", () => {
    corrections.record(object(), ["labels"], true);
    corrections.record(object(), ["description"], true);
    expect(corrections.record(object(), ["labels"], true)).toBe(2);
    corrections.record(object(), ["description"], false);
    expect(corrections.count(object(), ["labels"])).toBe(2);
  });

  it("counts fields together, and each of them, by themselves", () => {
    corrections.record(object(), ["labels", "description"], true);
    expect(corrections.record(object(), ["labels"], true)).toBe(1);
    expect(corrections.record(object(), ["labels", "description"], true)).toBe(2);
  });
});
