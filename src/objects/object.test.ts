import { expect, it } from "vitest";
import { annotations } from "../schema/contract.ts";
import {
  conditionOf,
  hasOnlyObserved,
  hasOwnID,
  isDeleting,
  isObserveOnly,
  isObserver,
  isOrphan,
  isPaused,
  isReconcileRequested,
  isReleased,
  isUninstalling,
  type ManagedObject,
  reconcileRequestedAt,
  releasedTo,
  retiringIDs,
} from "./object.ts";
import { leavesItsRemote } from "./origin.ts";

type Parts = Partial<Pick<ManagedObject, "spec" | "status">> & Partial<ManagedObject["metadata"]>;

const object = ({ spec = {}, status, ...metadata }: Parts = {}): ManagedObject => ({
  apiVersion: "tunnelgateway.dev/v1",
  kind: "IPPolicy",
  metadata: { name: "a", namespace: "n", uid: "u", generation: 1, ...metadata },
  spec,
  ...(status && { status }),
});

const annotated = (name: string, value: string, parts: Parts = {}): ManagedObject =>
  object({ ...parts, annotations: { [name]: value } });

it.each([
  // a pause holds while nobody can tell what is meant, and a remote is not given up
  ["isPaused", isPaused, annotations.paused, true],
  ["isOrphan", isOrphan, annotations.orphan, false],
] as const)("%s is clear about the texts true and false", (_, is, name, whenUnclear) => {
  expect(is(annotated(name, "true"))).toBe(true);
  expect(is(annotated(name, "false"))).toBe(false);
  for (const other of ["", "True"]) expect(is(annotated(name, other)), other).toBe(whenUnclear);
  for (const none of [object(), object({ annotations: {} })]) expect(is(none)).toBe(false);
});

it("the command uninstall waits for an object with its annotation, whatever it says", () => {
  expect(isUninstalling(annotated(annotations.uninstalling, ""))).toBe(true);
  expect(isUninstalling(object())).toBe(false);
});

it("an object with a deletionTimestamp is being deleted", () => {
  expect(isDeleting(object({ deletionTimestamp: "2026-01-01T00:00:00Z" }))).toBe(true);
  expect(isDeleting(object())).toBe(false);
});

it("replaced remotes are deleted in the order in which they were replaced", () => {
  expect(retiringIDs(undefined)).toEqual([]);
  expect(retiringIDs({ retiring: ["ipp_1", "ipp_2"] })).toEqual(["ipp_1", "ipp_2"]);
});

it("an object is released when it is to hand over its remote and has nothing left to delete", () => {
  const release = (status?: ManagedObject["status"]) =>
    annotated(annotations.releaseTo, "team-b/a", status && { status });
  expect([releasedTo(release()), releasedTo(object())]).toEqual(["team-b/a", undefined]);
  expect(isReleased(release())).toBe(true);
  expect(isReleased(release({ id: "ipp_2" }))).toBe(true);
  expect(isReleased(release({ id: "ipp_2", retiring: ["ipp_1"] }))).toBe(false);
  expect(isReleased(object())).toBe(false);
});

it.each<[string, Parts, { observes: boolean; isObserver: boolean; hasOnlyObserved: boolean }]>([
  ["that manages", {}, { observes: false, isObserver: false, hasOnlyObserved: false }],
  [
    "that is to observe",
    { spec: { managementPolicy: "ObserveOnly" } },
    { observes: true, isObserver: true, hasOnlyObserved: false },
  ],
  [
    "that observes",
    { spec: { managementPolicy: "ObserveOnly" }, status: { holds: false } },
    { observes: true, isObserver: true, hasOnlyObserved: false },
  ],
  [
    "that has observed until now",
    { spec: { managementPolicy: "Full" }, status: { holds: false, appliedFields: [] } },
    { observes: false, isObserver: true, hasOnlyObserved: true },
  ],
  [
    "whose remote another one has taken over",
    { status: { holds: false, origin: "Created" } },
    { observes: false, isObserver: true, hasOnlyObserved: false },
  ],
  [
    "that lost its remote under an earlier version",
    { status: { holds: false, appliedFields: ["description"] } },
    { observes: false, isObserver: true, hasOnlyObserved: false },
  ],
  [
    "that holds its remote",
    { status: { holds: true } },
    { observes: false, isObserver: false, hasOnlyObserved: false },
  ],
])("an object %s", (_, parts, expected) => {
  const status = { id: "ipp_1", ...parts.status };
  const given = object({ ...parts, status });
  expect({
    observes: isObserveOnly(given),
    isObserver: isObserver(given),
    hasOnlyObserved: hasOnlyObserved(given),
  }).toEqual(expected);
  expect(hasOwnID(given, "ipp_1")).toBe(!expected.isObserver);
  expect(hasOwnID(given, "ipp_2")).toBe(false);
});

it.each<[boolean, string, ManagedObject]>([
  [false, "with nothing else", object()],
  [true, "with the annotation orphan", annotated(annotations.orphan, "true")],
  [true, "with the policy Retain", object({ spec: { deletionPolicy: "Retain" } })],
  [true, "that observes", object({ spec: { managementPolicy: "ObserveOnly", deletionPolicy: "Delete" } })],
  [true, "that has only observed", object({ spec: { deletionPolicy: "Delete" }, status: { holds: false } })],
  [true, "that is released", annotated(annotations.releaseTo, "team-b/a", { spec: { deletionPolicy: "Delete" } })],
])("leavesItsRemote is %s for an object %s", (expected, _, given) => {
  expect(leavesItsRemote(given)).toBe(expected);
});

it("a reconcile is requested until it was done", () => {
  const requested = (lastHandledReconcileAt?: string) =>
    annotated(annotations.reconcileRequestedAt, "2", {
      status: lastHandledReconcileAt === undefined ? {} : { lastHandledReconcileAt },
    });
  expect([requested(), requested("1"), requested("2"), object()].map(isReconcileRequested)).toEqual([
    ...[true, true, false, false],
  ]);
  expect(isReconcileRequested(annotated(annotations.reconcileRequestedAt, "2"))).toBe(true);
  expect([reconcileRequestedAt(requested()), reconcileRequestedAt(object())]).toEqual(["2", undefined]);
});

it("a condition is found by its type", () => {
  const rest = { status: "True", reason: "Available", message: "", lastTransitionTime: "" } as const;
  const conditions = [
    { type: "Ready", ...rest },
    { type: "Synced", ...rest },
  ];
  expect(conditionOf({ conditions }, "Synced")).toBe(conditions[1]);
  expect(conditionOf({ conditions }, "Stalled")).toBeUndefined();
  expect(conditionOf(undefined, "Ready")).toBeUndefined();
});
