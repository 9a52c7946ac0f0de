import { beforeEach, describe, expect, it } from "vitest";
import { VirtualClock } from "../../../test/fakes/runtime/virtual-clock.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { annotations, FINALIZER } from "../../schema/contract.ts";
import { UnfinalizedObjects } from "./unfinalized-objects.ts";

let clock: VirtualClock;
let unfinalized: UnfinalizedObjects;

beforeEach(() => {
  clock = new VirtualClock();
  unfinalized = new UnfinalizedObjects(clock);
});

const policy = (metadata: Partial<ManagedObject["metadata"]> = {}): ManagedObject => ({
  apiVersion: "tunnelgateway.dev/v1",
  kind: "IPPolicy",
  metadata: { namespace: "n", name: "office", uid: "one", generation: 1, finalizers: [FINALIZER], ...metadata },
  spec: {},
});

describe("an object that was deleted although it had the finalizer", () => {
  it("has its remote deleted when this process has just added the finalizer", () => {
    unfinalized.finalizerAdded(policy());
    expect(unfinalized.record(policy())).toBe(true);
    expect(unfinalized.has(policy())).toBe(true);
    expect(unfinalized.get("IPPolicy", "n/office")?.metadata.deletionTimestamp).toBeDefined();
  });

  it("keeps its deletionTimestamp when its status is written", () => {
    unfinalized.finalizerAdded(policy());
    unfinalized.record(policy());
    unfinalized.setStatus(policy(), { id: "ipp_1" });
    const { metadata, status } = unfinalized.get("IPPolicy", "n/office") ?? {};
    expect(metadata?.deletionTimestamp).toBeDefined();
    expect(status).toEqual({ id: "ipp_1" });
  });

  it("is not handled twice when the watch reports its deletion later", () => {
    unfinalized.finalizerAdded(policy());
    unfinalized.record(policy());
    unfinalized.finish(policy());
    expect(unfinalized.record(policy())).toBe(false);
    expect(unfinalized.get("IPPolicy", "n/office")).toBeUndefined();
  });

  it("is not the new object of its name", () => {
    unfinalized.finalizerAdded(policy());
    unfinalized.record(policy());
    expect(unfinalized.has(policy({ uid: "two" }))).toBe(false);
  });
});

describe("the remote of a deleted object stays", () => {
  // An object can also vanish because somebody restores an older state of the cluster.
  it("when the finalizer was added longer ago than a request to the API server takes", async () => {
    unfinalized.finalizerAdded(policy());
    await clock.advance(120_000);
    expect(unfinalized.record(policy())).toBe(false);
  });

  it("when another process added the finalizer", () => {
    expect(unfinalized.record(policy())).toBe(false);
  });

  it.each([
    ["it was deleted in order", { deletionTimestamp: "2026-01-01T00:00:00Z" }],
    ["somebody took the finalizer off", { finalizers: [] }],
    ["it was paused", { annotations: { [annotations.paused]: "true" } }],
  ])("when %s", (_, metadata) => {
    unfinalized.finalizerAdded(policy());
    expect(unfinalized.record(policy(metadata))).toBe(false);
  });
});
