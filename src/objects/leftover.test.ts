import { expect, test } from "vitest";
import { APIKey } from "../kinds/api-key.ts";
import { IPPolicy } from "../kinds/ip-policy.ts";
import { ReservedDomain } from "../kinds/reserved-domain.ts";
import { TLSCertificate } from "../kinds/tls-certificate.ts";
import { annotations, FINALIZER, OWNER_KEY } from "../schema/contract.ts";
import { canBeLeft, keepersAmong } from "./leftover.ts";
import type { ManagedObject } from "./object.ts";

const object = (given: Partial<Pick<ManagedObject, "spec" | "status">> & { notes?: object; finalizer?: true } = {}) =>
  ({
    kind: "IPPolicy",
    metadata: {
      namespace: "team-b",
      name: "office",
      uid: "u",
      generation: 1,
      annotations: given.notes,
      ...(given.finalizer && { finalizers: [FINALIZER] }),
    },
    spec: given.spec ?? {},
    ...(given.status && { status: given.status }),
  }) as unknown as ManagedObject;

const marked = { id: "ipp_1", metadata: JSON.stringify({ [OWNER_KEY]: "c1/team-b/office" }) };
const plain = { id: "ipp_1" };
const domain = { id: "rd_1", domain: "Shop.example.com" };
const begun = { [annotations.createIntent]: "2026-01-10T11:30:00Z" };
const paused = { [annotations.paused]: "true" };
const other = { id: "ipp_2" };
const named = { domain: "shop.example.com" };

test.each([
  ["has it", plain, object({ status: { id: "ipp_1" } }), true],
  ["has it through another account", plain, object({ status: { id: "ipp_1", account: "team" } }), true],
  ["has replaced it and is to delete it", plain, object({ status: { ...other, retiring: ["ipp_1"] } }), true],
  ["only observes it", plain, object({ spec: { managementPolicy: "ObserveOnly" }, status: { id: "ipp_1" } }), true],
  ["is to adopt it", plain, object({ spec: { adopt: { id: "ipp_1" } } }), true],
  ["has taken its mark off", plain, object({ notes: { [annotations.createIntent]: "id=ipp_1 owner=c/n/a" } }), true],
  ["is being created", marked, object({ notes: begun }), true],
  ["has lost its status", marked, object({ finalizer: true }), true],
  ["is paused, with another", marked, object({ notes: paused, status: other }), true],
  ["has one that is not there", marked, object({ status: { id: "ipp_3" } }), true],
  ["has another", marked, object({ status: other }), false],
  [
    "has another name",
    { id: "ipp_1", metadata: `{"${OWNER_KEY}":"c1/team-b/former"}` },
    object({ notes: begun }),
    false,
  ],
  [
    "has the name in another cluster",
    { id: "ipp_1", metadata: `{"${OWNER_KEY}":"c2/team-b/office"}` },
    object(),
    false,
  ],
  [
    "is created, with metadata that leaves no room for a mark",
    plain,
    object({ notes: begun, spec: { metadata: "opaque" } }),
    false,
  ],
  ["is created with a mark", plain, object({ notes: begun }), false],
  [
    "had adopted something without a mark, and has lost its status",
    plain,
    object({ finalizer: true, spec: { metadata: "opaque" } }),
    true,
  ],
  ["had adopted and marked something, and has lost its status", plain, object({ finalizer: true }), false],
  ["has nothing yet", plain, object(), false],
])("an object that %s keeps a remote: %s, %s, %s", (_, remote, one, isKept) => {
  const around = { clusterID: "c1", objects: [one], exists: (id: string) => id === "ipp_2" };
  expect(keepersAmong(IPPolicy, around)(remote)).toBe(isKept ? one : undefined);
});

test("an object that had adopted what the service does not mark, and has lost its status, keeps it", () => {
  const one = object({ finalizer: true });
  const around = { clusterID: "c1", objects: [one], exists: () => true };
  expect(keepersAmong(TLSCertificate, around)({ id: "cert_1" })).toBe(one);
});

test.each([
  ["adopts what has its name", { ...named, adopt: { existing: true as const } }, true],
  ["observes what has its name", { ...named, managementPolicy: "ObserveOnly" as const }, true],
  ["only has the same name, so that it waits until the name is free", named, false],
  ["adopts another name", { domain: "other.example.com", adopt: { existing: true as const } }, false],
])("an object that %s", (_, spec, isKept) => {
  const one = object({ spec });
  const around = { clusterID: "c1", objects: [one], exists: () => true };
  expect(keepersAmong(ReservedDomain, around)(domain)).toBe(isKept ? one : undefined);
});

test("an API key is never a leftover", () => {
  expect([canBeLeft(IPPolicy), canBeLeft(APIKey)]).toEqual([true, false]);
});
