import { Registry } from "prom-client";
import { beforeEach, describe, expect, it } from "vitest";
import type { Condition, ManagedObject } from "../../objects/object.ts";
import type { Change } from "../../runtime/cache/store.ts";
import { annotations } from "../../schema/contract.ts";
import { createSyncMetrics, type SyncMetrics } from "./sync-metrics.ts";

let registry: Registry;
let metrics: SyncMetrics;
let now: number;
let object: ManagedObject;

beforeEach(() => {
  registry = new Registry();
  metrics = createSyncMetrics([registry]);
  now = 0;
  const metadata = { name: "one", namespace: "team-a", uid: "uid-one", generation: 1 };
  object = { apiVersion: "tunnelgateway.dev/v1", kind: "IPPolicy", metadata, spec: {} };
});

const synced = (status: Condition["status"], observedGeneration: number): Condition => ({
  type: "Synced",
  status,
  observedGeneration,
  reason: "Available",
  message: "",
  lastTransitionTime: "",
});

/** The object is as it was, but for this. */
function update(metadata: Partial<ManagedObject["metadata"]>, conditions = object.status?.conditions): void {
  const old = object;
  object = { ...old, metadata: { ...old.metadata, ...metadata }, ...(conditions && { status: { conditions } }) };
  tell({ type: "updated", old, object, initial: false });
}

const tell = (change: Change<ManagedObject>) => metrics.onObject(change, now);
const add = (initial = false) => tell({ type: "added", object, initial });

/** How many edits were measured, and their seconds in all. */
async function measured(): Promise<[number, number]> {
  const text = await registry.metrics();
  const value = (name: string) => Number(new RegExp(`_${name} (.+)$`, "m").exec(text)?.[1]);
  return [value("count"), value("sum")];
}

describe("an edit is measured", () => {
  it("from when a new object is seen until it is synced", async () => {
    add();
    now = 500;
    update({}, [synced("False", 1)]);
    expect(await measured()).toEqual([0, 0]);
    now = 3000;
    update({}, [synced("True", 1)]);
    update({}, [synced("True", 1)]);
    expect(await measured()).toEqual([1, 3]);
  });

  it("from the latest one, when the spec was changed again meanwhile", async () => {
    add();
    now = 5000;
    update({ generation: 2 });
    now = 6000;
    update({}, [synced("True", 1)]);
    expect(await measured()).toEqual([0, 0]);
    now = 7000;
    update({}, [synced("True", 2)]);
    expect(await measured()).toEqual([1, 2]);
  });
});

describe("nothing is measured", () => {
  it("for an object that is being deleted", async () => {
    add();
    update({ generation: 2, deletionTimestamp: "2026-01-01T00:00:00Z" });
    update({}, [synced("True", 2)]);
    expect(await measured()).toEqual([0, 0]);
  });

  it("for an object that is found at the start", async () => {
    add(true);
    update({}, [synced("True", 1)]);
    expect(await measured()).toEqual([0, 0]);
  });

  it("for changes that are no edits", async () => {
    add();
    update({}, [synced("True", 1)]);
    now = 9000;
    update({ labels: { a: "b" } });
    update({}, [synced("False", 1)]);
    update({}, [synced("True", 1)]);
    expect(await measured()).toEqual([1, 0]);
  });

  it.each([
    ["is deleted", () => tell({ type: "deleted", object, initial: false })],
    ["is paused", () => update({ annotations: { [annotations.paused]: "true" } })],
  ])("for an edit of an object that %s", async (_, change) => {
    add();
    change();
    update({ annotations: {} }, [synced("True", 1)]);
    expect(await measured()).toEqual([0, 0]);
  });
});
