import { describe, expect, it } from "vitest";
import { annotations } from "../schema/contract.ts";
import type { ManagedObject, Status } from "./object.ts";
import { isRetainedByPolicy, originOf } from "./origin.ts";

const createdAt = "2026-01-01T12:00:00Z";
const intent = "2026-01-01T12:00:00.000Z";

function object(spec: ManagedObject["spec"], status?: Status, text?: string): ManagedObject {
  const metadata = {
    name: "a",
    namespace: "n",
    uid: "u",
    generation: 1,
    creationTimestamp: "2026-01-01T11:00:00Z",
    ...(text && { annotations: { [annotations.createIntent]: text } }),
  };
  return { apiVersion: "tunnelgateway.dev/v1", kind: "ReservedDomain", metadata, spec, ...(status && { status }) };
}

const adopt = { id: "rd_1" };

describe("the origin of a remote", () => {
  it.each<[string, ManagedObject, string]>([
    ["is what the status says, though spec.adopt has gone", object({}, { id: "rd_1", origin: "Adopted" }), "Adopted"],
    [
      "is what the status says, though spec.adopt has come",
      object({ adopt }, { id: "rd_1", origin: "Created" }),
      "Created",
    ],
    ["before there is a remote is what the spec asks for", object({ adopt }), "Adopted"],
    ["before there is a remote is a creation without adopt", object({}), "Created"],
    [
      "is a creation when adopt found nothing and a create was recorded",
      object({ adopt: { existing: true } }, {}, intent),
      "Created",
    ],
  ])("%s", (_, given, origin) => {
    expect(originOf(given)).toBe(origin);
  });

  it.each<[string, Status, string]>([
    ["only an observed one", { id: "rd_1", createdAt }, "Adopted"],
    ["modules, which have no origin as a whole", { id: "edghts_1/edghtsrt_1" }, "Created"],
  ])("of a status that names none: %s", (_, status, origin) => {
    expect(originOf(object({}, status, intent))).toBe(origin);
  });
});

it.each([
  [{}, "Created", false],
  [{}, "Adopted", true],
  [{ deletionPolicy: "Delete" }, "Adopted", false],
  [{ deletionPolicy: "Retain" }, "Created", true],
] as const)("a remote with spec %o and origin %s is retained: %s", (spec, origin, retained) => {
  expect(isRetainedByPolicy(object(spec, { id: "rd_1", origin }))).toBe(retained);
});
