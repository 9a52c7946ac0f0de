import { describe, expect, it } from "vitest";
import type { Condition, ManagedObject, Status } from "../../objects/object.ts";
import type { Change } from "../context.ts";
import { eventsOf } from "./events.ts";

const condition = (
  type: string,
  status: Condition["status"],
  reason: string,
  message = `${type} ${reason}`,
): Condition => ({
  ...{ type, status, reason, message },
  lastTransitionTime: "2026-01-01T00:00:00Z",
});

const unseen: Condition[] = [condition("Ready", "Unknown", "Pending")];
const ready = [condition("Ready", "True", "Available"), condition("Synced", "True", "Available")];
const failed = (reason: string, words = "Do this") => [
  condition("Ready", "False", reason, words),
  condition("Synced", "False", reason, words),
];

const object = (conditions: Condition[], spec: ManagedObject["spec"] = {}, deleting = false): ManagedObject => ({
  apiVersion: "tunnelgateway.dev/v1",
  kind: "IPPolicy",
  metadata: {
    name: "a",
    namespace: "n",
    uid: "u",
    generation: 1,
    ...(deleting && { deletionTimestamp: "2026-01-01T00:00:00Z" }),
  },
  spec,
  status: { conditions },
});

const told = (conditions: Condition[]): Status => ({ conditions });
const [id, state] = ["ipp_1", { remote: { id: "ipp_1" } }];
const having = (...changes: Change[]) => ({ changes, state });
const failedHaving = (...changes: Change[]) => ({ changes, state: {} });

describe("notices", () => {
  it("has none for an object that is ready at once", () => {
    expect(eventsOf(object(unseen), told(ready), having({ type: "Created", id }))).toEqual([]);
    expect(eventsOf({ ...object([]), status: {} }, told(ready), having({ type: "Created", id }))).toEqual([]);
  });

  it("has none when nothing has changed", () => {
    expect(eventsOf(object(ready), told(ready), having())).toEqual([]);
    expect(eventsOf(object(failed("InvalidSpec")), told(failed("InvalidSpec", "Do that")), failedHaving())).toEqual([]);
  });

  it("tells once that all is well again after trouble", () => {
    expect(eventsOf(object(failed("InvalidSpec")), told(ready), having())).toMatchObject([
      { type: "Normal", reason: "Available" },
    ]);
  });

  it("has one for a failure that two conditions tell in the same words", () => {
    expect(eventsOf(object(ready), told(failed("InvalidSpec")), failedHaving())).toEqual([
      { type: "Warning", reason: "InvalidSpec", action: "Reconcile", note: "Do this" },
    ]);
  });

  it("has one when the reason changes", () => {
    expect(eventsOf(object(failed("ServiceUnavailable")), told(failed("RateLimited")), failedHaving())).toMatchObject([
      { reason: "RateLimited" },
    ]);
  });

  it.each(["ReferenceNotReady", "CertificateProvisioning", "Deleting"])("takes %s for the usual course", (reason) => {
    expect(eventsOf(object(unseen), told(failed(reason)), failedHaving())).toMatchObject([{ type: "Normal", reason }]);
  });

  it("names the deletion as what was being done", () => {
    expect(eventsOf(object(ready, {}, true), told(failed("InUse")), failedHaving())).toMatchObject([
      { action: "Delete" },
    ]);
  });

  it("warns of drift that is left", () => {
    const drift = [...ready, condition("Drifted", "True", "RemoteDiffers")];
    expect(eventsOf(object(ready), told(drift), having())).toMatchObject([
      { type: "Warning", reason: "RemoteDiffers" },
    ]);
  });

  it("tells of each field that was put right", () => {
    const [notice] = eventsOf(
      object(ready),
      told(ready),
      having({ type: "Updated", id, fields: ["description", "labels"], drifted: true }),
    );
    expect(notice).toMatchObject({ type: "Normal", action: "Update" });
    expect(notice?.note).toContain("spec.description, spec.labels");
  });

  it("warns of a remote that somebody else had deleted, once there is a new one", () => {
    expect(
      eventsOf(object(ready), told(ready), having({ type: "Missing", id: "ipp_0" }, { type: "Created", id })),
    ).toMatchObject([{ type: "Warning", reason: "RemoteMissing", action: "Create" }]);
    expect(eventsOf(object(ready), told(ready), failedHaving({ type: "Missing", id: "ipp_0" }))).toEqual([]);
  });

  it("tells of what was taken over, but not of what is only observed", () => {
    expect(eventsOf(object(unseen), told(ready), having({ type: "Adopted", id }))).toMatchObject([
      { note: "Took over ipp_1" },
    ]);
    const observed = object(unseen, { managementPolicy: "ObserveOnly" });
    expect(eventsOf(observed, told(ready), having({ type: "Adopted", id }))).toEqual([]);
  });
});
