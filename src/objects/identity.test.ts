import { describe, expect, it } from "vitest";
import type * as z from "zod";
import { kinds } from "../kinds/index.ts";
import type { Kind } from "../schema/define.ts";
import { traitsOf } from "../schema/traits.ts";
import { membersOf } from "../schema/wire/compare.ts";
import {
  idFromSpec,
  managedMembers,
  naturalKeyOf,
  parentIDsOf,
  remoteIDsOf,
  setsNoModule,
  wantedIDOf,
} from "./identity.ts";
import type { ManagedObject, Status } from "./object.ts";

const object = (
  spec: ManagedObject["spec"],
  status?: Status,
  metadata: Partial<ManagedObject["metadata"]> = {},
): ManagedObject => ({
  apiVersion: "tunnelgateway.dev/v1",
  kind: "any",
  metadata: { name: "a", namespace: "team-a", uid: "u", generation: 1, ...metadata },
  spec,
  ...(status && { status }),
});

const deletionTimestamp = "2026-01-01T00:00:00Z";

const idFieldsOf = ({ location }: Kind): readonly string[] => (location.type === "collection" ? [] : location.idFields);

const referenceOf = ({ spec }: Kind, field: string) => traitsOf(spec.shape[field] as z.ZodType).reference;

/** A spec in which each part of the id is a text, or the id of a reference: `<field>_1`. */
const specOf = (kind: Kind): ManagedObject["spec"] =>
  Object.fromEntries(
    idFieldsOf(kind).map((field) => [field, referenceOf(kind, field) ? { id: `${field}_1` } : `${field}_1`]),
  );

const withID = kinds.filter(({ location }) => location.type !== "collection");
const withoutID = kinds.filter(({ location }) => location.type === "collection");
const references = withID.flatMap((kind) =>
  idFieldsOf(kind).flatMap((field) => {
    const reference = referenceOf(kind, field);
    return reference ? [{ kind, name: kind.kind, field, reference }] : [];
  }),
);

describe("the id that a spec names", () => {
  it.each(withID)("of $kind has all its parts, and is undefined while one is missing", (kind) => {
    const spec = specOf(kind);
    expect(idFromSpec(kind, object(spec))).toBe(
      idFieldsOf(kind)
        .map((field) => `${field}_1`)
        .join("/"),
    );
    for (const field of idFieldsOf(kind)) {
      const unset = referenceOf(kind, field) ? {} : undefined;
      expect(idFromSpec(kind, object({ ...spec, [field]: unset })), field).toBeUndefined();
    }
  });

  it.each(withoutID)("is undefined for $kind, whose ids the service chooses", (kind) => {
    expect(idFromSpec(kind, object({ id: "x_1", ...specOf(kind) }))).toBeUndefined();
  });

  it.each(references)("of $name takes $field from the object that it names, as soon as that has an id", (given) => {
    const { kind, field, reference } = given;
    const [referred = ""] = reference.kinds;
    const asked: string[][] = [];
    const clusterWith = (status: Status | undefined) => ({
      get: (...names: [string, string, string]) => {
        asked.push(names);
        return object({}, status);
      },
    });
    const idWith = (target: object, status?: Status) =>
      idFromSpec(kind, object({ ...specOf(kind), [field]: target }), clusterWith(status))?.split("/");
    const place = idFieldsOf(kind).indexOf(field);
    const status = { [reference.statusField]: "named_1" };
    expect(idWith({ name: "one" }, status)?.[place]).toBe("named_1");
    expect(idWith({ name: "one", kind: "Another" }, status)?.[place]).toBe("named_1");
    expect(asked).toEqual([
      [referred, "team-a", "one"],
      ["Another", "team-a", "one"],
    ]);
    expect(idWith({ name: "one" }, {})).toBeUndefined();
    expect(idWith({ name: "one" })).toBeUndefined();
    expect(idWith({ id: "x_1", name: "one" }, status)?.[place]).toBe("x_1");
    expect(idFromSpec(kind, object({ ...specOf(kind), [field]: { name: "one" } }))).toBeUndefined();
  });
});

describe("the ids of an object's remotes", () => {
  const status = { id: "one/a", retiring: ["two/a", "three/a"] };
  const ids = ["one/a", "two/a", "three/a"];

  it.each(kinds)("of $kind are each there once: of the status, those being replaced, of the spec", (kind) => {
    const ofSpec = idFromSpec(kind, object(specOf(kind)));
    const known = ofSpec === undefined ? [] : [ofSpec];
    expect(remoteIDsOf(kind, object(specOf(kind)))).toEqual(known);
    expect(remoteIDsOf(kind, object(specOf(kind), status))).toEqual([...ids, ...known]);
    if (ofSpec) expect(remoteIDsOf(kind, object(specOf(kind), { id: ofSpec }))).toEqual([ofSpec]);
  });

  it.each(kinds)("of $kind have parents only if they are entries of a list", (kind) => {
    const isEntry = kind.location.type === "entry";
    const parents = isEntry ? ["one", "two", "three", `${idFieldsOf(kind)[0]}_1`] : [];
    expect(parentIDsOf(kind, object(specOf(kind), status))).toEqual(parents);
  });
});

it("an object wants to adopt an id until it has a remote", () => {
  expect(wantedIDOf(object({ adopt: { id: "x_1" } }))).toBe("x_1");
  expect(wantedIDOf(object({ adopt: { id: "x_1" } }, {}))).toBe("x_1");
  expect(wantedIDOf(object({ adopt: { existing: true } }))).toBeUndefined();
  expect(wantedIDOf(object({}))).toBeUndefined();
  expect(wantedIDOf(object({ adopt: { id: "x_1" } }, { id: "x_2" }))).toBeUndefined();
});

it.each(kinds)("$kind has a natural key as the service compares it, or none", (kind) => {
  const { naturalKey } = kind;
  const values = { name: "One.Example.COM", domain: "One.Example.COM", id: "One.Example.COM" };
  expect(naturalKeyOf(kind, values)).toBe(naturalKey && "one.example.com");
  expect(naturalKeyOf(kind, {})).toBeUndefined();
});

describe("the members that an object manages", () => {
  it.each(kinds)("of $kind are those of each field that was sent, whether the spec still has it or not", (kind) => {
    expect(managedMembers(kind, object({}))).toEqual([]);
    for (const [member, { fields }] of membersOf(kind.spec)) {
      for (const field of fields) {
        const sent = { appliedFields: [field] };
        expect(managedMembers(kind, object({}, sent)), field).toContain(member);
        expect(managedMembers(kind, object({}, sent, { deletionTimestamp })), field).toContain(member);
      }
      const others = [...membersOf(kind.spec).values()].flatMap((one) => one.fields);
      const appliedFields = others.filter((field) => !fields.includes(field));
      expect(managedMembers(kind, object({}, { appliedFields })), member).not.toContain(member);
    }
  });

  it.each(kinds)("of $kind are those of the spec, but not while it is deleted if something else was sent", (kind) => {
    for (const [member, { fields }] of membersOf(kind.spec)) {
      for (const field of fields) {
        const traits = traitsOf(kind.spec.shape[field] as z.ZodType);
        const spec = { [field]: traits.shared ? [] : "x" };
        expect(managedMembers(kind, object(spec)), field).toContain(member);
        expect(managedMembers(kind, object(spec, { appliedFields: [] })), field).toContain(member);
        expect(managedMembers(kind, object(spec, {}, { deletionTimestamp })), field).toContain(member);
        expect(managedMembers(kind, object(spec, { appliedFields: [] }, { deletionTimestamp })), field).toEqual([]);
      }
    }
  });

  it.each(kinds)("of $kind are missing only if it has no remote of its own", (kind) => {
    const isOfModules = kind.location.type === "modules";
    expect(setsNoModule(kind, object({}))).toBe(isOfModules);
    const [member] = membersOf(kind.spec).values();
    const appliedFields = member?.fields ?? [];
    expect(setsNoModule(kind, object({}, { appliedFields }))).toBe(false);
    expect(setsNoModule(kind, object({}, { appliedFields: [] }))).toBe(isOfModules);
  });
});
