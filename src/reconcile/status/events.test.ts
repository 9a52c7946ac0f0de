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
  type,
  status,
  reason,
  message,
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

const statusWith = (conditions: Condition[]): Status => ({ conditions });
const [id, state] = ["ipp_1", { next: {}, remote: { id: "ipp_1" } }];
const having = (...changes: Change[]) => ({ changes, state });
const failedHaving = (...changes: Change[]) => ({ changes, state: { next: {} } });

describe("events", () => {
  it("are none for an object that is ready at once", () => {
    expect(eventsOf(object(unseen), statusWith(ready), having({ type: "Created", id }))).toEqual([]);
    expect(eventsOf({ ...object([]), status: {} }, statusWith(ready), having({ type: "Created", id }))).toEqual([]);
  });

  it("are none when nothing has changed", () => {
    expect(eventsOf(object(ready), statusWith(ready), having())).toEqual([]);
    expect(
      eventsOf(object(failed("InvalidSpec")), statusWith(failed("InvalidSpec", "Do that")), failedHaving()),
    ).toEqual([]);
  });

  it("report once that an object is ready again", () => {
    expect(eventsOf(object(failed("InvalidSpec")), statusWith(ready), having())).toMatchObject([
      { type: "Normal", reason: "Available" },
    ]);
  });

  it("report a failure once when two conditions have the same reason", () => {
    expect(eventsOf(object(ready), statusWith(failed("InvalidSpec")), failedHaving())).toEqual([
      { type: "Warning", reason: "InvalidSpec", action: "Reconcile", note: "Do this" },
    ]);
  });

  it("report a change of the reason", () => {
    expect(
      eventsOf(object(failed("ServiceUnavailable")), statusWith(failed("RateLimited")), failedHaving()),
    ).toMatchObject([{ reason: "RateLimited" }]);
  });

  it.each(["ReferenceNotReady", "CertificateProvisioning", "Deleting"])("are Normal for the reason %s", (reason) => {
    expect(eventsOf(object(unseen), statusWith(failed(reason)), failedHaving())).toMatchObject([
      { type: "Normal", reason },
    ]);
  });

  it("have the action Delete for an object that is being deleted", () => {
    expect(eventsOf(object(ready, {}, true), statusWith(failed("InUse")), failedHaving())).toMatchObject([
      { action: "Delete" },
    ]);
  });

  it("warn of drift that is not corrected", () => {
    const drift = [...ready, condition("Drifted", "True", "RemoteDiffers")];
    expect(eventsOf(object(ready), statusWith(drift), having())).toMatchObject([
      { type: "Warning", reason: "RemoteDiffers" },
    ]);
  });

  it("warn of a renewal that fails, although the object stays ready", () => {
    const failing = [condition("Ready", "True", "CertificateRenewalFailing")];
    expect(eventsOf(object(ready), statusWith(failing), having())).toMatchObject([
      { type: "Warning", reason: "CertificateRenewalFailing" },
    ]);
  });

  it("name each field that was corrected", () => {
    const [notice] = eventsOf(
      object(ready),
      statusWith(ready),
      having({ type: "Updated", id, fields: ["description", "labels"], drifted: true }),
    );
    expect(notice).toMatchObject({ type: "Normal", action: "Update" });
    expect(notice?.note).toContain("spec.description, spec.labels");
  });

  it("warn of a remote that somebody else had deleted, once a new one exists", () => {
    expect(
      eventsOf(object(ready), statusWith(ready), having({ type: "Missing", id: "ipp_0" }, { type: "Created", id })),
    ).toMatchObject([{ type: "Warning", reason: "RemoteMissing", action: "Create" }]);
    expect(eventsOf(object(ready), statusWith(ready), failedHaving({ type: "Missing", id: "ipp_0" }))).toEqual([]);
  });

  it("are none for an edit, and none for a first pause", () => {
    const edit: Change = { type: "Updated", id, fields: ["description"], drifted: false };
    expect(eventsOf(object(ready), statusWith(ready), having(edit))).toEqual([]);
    const paused = [...ready, condition("Paused", "True", "Paused")];
    expect(eventsOf(object(ready), statusWith(paused), having())).toEqual([]);
  });

  it.each<[string, ManagedObject["spec"], Change[], string]>([
    ["is deleted later", {}, [{ type: "Created", id, replaces: "ipp_0" }], "ipp_0, which is deleted once"],
    [
      "stays",
      { deletionPolicy: "Retain" },
      [{ type: "Created", id, replaces: "ipp_0" }],
      "ipp_0, which stays in the account",
    ],
    [
      "was deleted before",
      {},
      [
        { type: "Deleted", id: "ipp_9" },
        { type: "Deleted", id: "ipp_0" },
        { type: "Created", id },
      ],
      "ipp_0, which was deleted",
    ],
  ])("name the remote that was replaced, and say that it %s", (_, spec, changes, words) => {
    expect(eventsOf(object(ready, spec), statusWith(ready), having(...changes))).toMatchObject([
      { type: "Normal", reason: "Updating", note: expect.stringContaining(`Created ipp_1 in place of ${words}`) },
    ]);
  });

  it("are none for a remote that was deleted after the create", () => {
    const changes: Change[] = [
      { type: "Created", id },
      { type: "Deleted", id: "ipp_0" },
    ];
    expect(eventsOf(object(ready), statusWith(ready), having(...changes))).toEqual([]);
  });

  it("warn of duplicates", () => {
    const changes: Change = { type: "Duplicates", ids: ["ipp_2", "ipp_3"] };
    expect(eventsOf(object(ready), statusWith(ready), having(changes))).toMatchObject([
      { type: "Warning", reason: "OwnershipConflict", note: expect.stringContaining("ipp_2, ipp_3") },
    ]);
  });

  it("report an adoption, but not for an object that only observes", () => {
    expect(eventsOf(object(unseen), statusWith(ready), having({ type: "Adopted", id }))).toMatchObject([
      { note: "Took over ipp_1" },
    ]);
    const observed = object(unseen, { managementPolicy: "ObserveOnly" });
    expect(eventsOf(observed, statusWith(ready), having({ type: "Adopted", id }))).toEqual([]);
  });
});
