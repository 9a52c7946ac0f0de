import { describe, expect, it } from "vitest";
import * as z from "zod";
import { kinds } from "../kinds/index.ts";
import { answerFieldsOf, specOf, statusOf } from "./common.ts";
import type { Answer, Kind } from "./define.ts";
import { type Traits, traitsOf, unwrap } from "./traits.ts";
import { toStatus } from "./wire/answer.ts";
import { membersOf } from "./wire/compare.ts";
import { returnedAs } from "./wire/names.ts";
import { targetKindsOf } from "./wire/needs.ts";

interface Visited {
  path: string;
  traits: Traits;
}

/** A schema and all below it, wrappers included. */
function* visit(schema: z.ZodType, path: string): Generator<Visited> {
  yield { path, traits: traitsOf(schema) };
  const inner = unwrap(schema);
  if (inner instanceof z.ZodObject) {
    for (const [name, member] of Object.entries(inner.shape)) yield* visit(member as z.ZodType, `${path}.${name}`);
  }
  if (inner instanceof z.ZodArray) yield* visit(inner.element as z.ZodType, `${path}[]`);
}

const names = kinds.map(({ kind }) => kind);
const each = kinds.map((kind) => [kind.kind, kind] as const);

describe("the list of kinds", () => {
  it.each<[string, (kind: Kind) => readonly string[]]>([
    ["kinds", ({ kind }) => [kind]],
    ["plurals", ({ plural }) => [plural]],
    ["short names", ({ shortNames }) => shortNames],
    ["resources", ({ resource }) => [resource.name]],
    // the API server takes a word for either, so the two must not meet
    ["words for kubectl", ({ kind, plural, shortNames }) => [kind.toLowerCase(), plural, ...shortNames]],
  ])("has no two of the same %s", (_, wordsOf) => {
    const words = kinds.flatMap(wordsOf);
    expect(words.filter((word, index) => words.indexOf(word) !== index)).toEqual([]);
  });
});

describe.each(each)("%s", (_, kind) => {
  const { resource } = kind;
  const mutable = [...resource.update, ...resource.updateUndocumented];
  const members = [...membersOf(kind.spec)];

  it("has a short name that begins with gw", () => {
    expect(kind.shortNames.length).toBeGreaterThan(0);
    expect(kind.shortNames.filter((name) => !/^gw[a-z]+$/.test(name))).toEqual([]);
  });

  it("has no column that takes several values: a table shows the first of them alone", () => {
    expect(kind.columns.filter(({ jsonPath }) => /\[\*\]|\.\.|,|:/.test(jsonPath))).toEqual([]);
  });

  it("refers only to kinds that exist", () => {
    const targets = [...visit(kind.spec, "")].flatMap(({ traits }) => traits.reference?.kinds ?? []);
    expect(targets.filter((target) => !names.includes(target))).toEqual([]);
  });

  it("refers only to status fields that its targets have", () => {
    for (const { traits, path } of visit(kind.spec, "spec")) {
      const targets = kinds.filter((one) => traits.reference?.kinds.includes(one.kind));
      for (const target of targets) {
        const fields = Object.keys(statusOf(target).shape);
        expect(fields, `${path} sends status.${traits.reference?.statusField} of ${target.kind}`).toContain(
          traits.reference?.statusField,
        );
      }
    }
  });

  it("says whether modules may refer to it that are on remotes without a list", () => {
    const referring = kinds.filter(({ spec }) => targetKindsOf(spec).includes(kind.kind));
    expect(kind.isUsedUnlisted).toBe(referring.some(({ location }) => location.type === "modules"));
  });

  it("sends only members that the service takes", () => {
    const accepted = [...resource.create, ...mutable];
    expect(members.map(([member]) => member).filter((member) => !accepted.includes(member))).toEqual([]);
  });

  it("has fields for everything that the service accepts", () => {
    const sent = members.map(([member]) => member);
    expect([...resource.create, ...mutable].filter((member) => !sent.includes(member))).toEqual([]);
  });

  it("marks exactly what the service takes on create only", () => {
    const frozen = members
      .filter(([, { traits }]) => traits.immutable === true || traits.createOnly === true)
      .map(([member]) => member);
    expect(frozen.sort()).toEqual(resource.create.filter((member) => !mutable.includes(member)).sort());
  });

  it("has an operation for each part that is removed by one, and for no other", () => {
    const removed = members.filter(([, { traits }]) => traits.module?.onRemove === "delete").map(([member]) => member);
    expect(Object.keys(kind.modules).sort()).toEqual(removed.sort());
  });

  it("has no field of its own that every kind has already", () => {
    const common = Object.keys(specOf({ ...kind, spec: z.object({}) }).shape);
    expect(Object.keys(kind.spec.shape).filter((field) => common.includes(field))).toEqual([]);
  });

  it("has a natural key that is required, immutable and shown under the same name", () => {
    if (kind.naturalKey === undefined) return;
    const field = kind.spec.shape[kind.naturalKey] as z.ZodType;
    expect(field.safeParse(undefined).success).toBe(false);
    expect(traitsOf(field).immutable).toBe(true);
    expect(Object.keys(resource.wire.shape)).toContain(kind.naturalKey);
  });

  it("shows every member of an answer that no request takes", () => {
    const taken = [...resource.create, ...mutable, ...Object.keys(resource.wire.shape).filter(isFromSpec)];
    const shown = Object.entries(answerFieldsOf(kind).shape).map(([field, of]) => returnedAs(field, of as z.ZodType));
    const readOnly = Object.keys(resource.wire.shape).filter((member) => !taken.includes(member));
    expect(readOnly.filter((member) => !shown.includes(member) && !(member in hidden))).toEqual([]);

    function isFromSpec(member: string): boolean {
      return Object.entries(kind.spec.shape).some(([field, of]) => returnedAs(field, of as z.ZodType) === member);
    }
  });

  it("shows what the service chooses where the spec leaves a field open", () => {
    const chosen = [...visit(kind.spec, "")].filter(
      ({ traits }) => traits.serverDefault || traits.unset?.onCreate !== undefined,
    );
    const shown = [...visit(statusOf(kind), "")].map(({ path }) => path);
    expect(chosen.map(({ path }) => path).filter((path) => !shown.includes(path))).toEqual([]);
  });

  it("shows no more than the first 20 entries of a list, and how many there are, unless the list is named here with the reason", () => {
    const longer = (schema: z.ZodType, path: string, answer: Answer): string[] => {
      const inner = unwrap(schema);
      if (!(inner instanceof z.ZodObject)) return [];
      const status = toStatus(schema, answer) as Record<string, unknown>;
      return Object.entries(inner.shape).flatMap(([field, of]) => {
        const within = unwrap(of as z.ZodType);
        if (!(within instanceof z.ZodArray)) return longer(within, `${path}${field}.`, manyOf(within));
        const { [field]: list, [`${field.replace(/s$/, "")}Count`]: count } = status;
        const isBounded = Array.isArray(list) && list.length === 20 && count === many.length;
        return isBounded || `${path}${field}` in whole ? [] : [`${path}${field}`];
      });
    };
    expect(longer(answerFieldsOf(kind), "", manyOf(answerFieldsOf(kind)))).toEqual([]);
  });

  it("keeps secrets out of its status", () => {
    const shown = [...visit(statusOf(kind), "status")].map(({ path }) => path.split(".").at(-1) ?? "");
    const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    expect(shown.filter((name) => resource.secrets.includes(snake(name)))).toEqual([]);
  });

  it("marks every secret of the service as one", () => {
    const plain = [...visit(kind.spec, "spec")]
      .filter(({ traits }) => traits.sends !== undefined && resource.secrets.includes(traits.sends) && !traits.secret)
      .map(({ path }) => path);
    expect(plain).toEqual([]);
  });
});

const many = Array.from({ length: 100 }, (_, index) => ({ id: `x_${index}` }));

/** An answer that has a long list for each member of an object. */
function manyOf(schema: z.ZodType): Record<string, unknown> {
  if (!(schema instanceof z.ZodObject)) return {};
  const names = Object.entries(schema.shape).map(([field, of]) => returnedAs(field, of as z.ZodType));
  return Object.fromEntries(names.map((name) => [name, many]));
}

/** Why a status shows the whole of these lists. */
const whole: Readonly<Record<string, string>> = {
  dnsRecords: "a person has to make all of them, and there are two at the most",
  extendedKeyUsages: "a few words of a standard",
  keyUsages: "nine words of a standard at the most",
  nsTargets: "the name servers of one zone, each of which needs a record",
  regionDomains: "one for each region of the service",
};

/** Why no status shows these members, although answers have them. */
const hidden: Readonly<Record<string, string>> = {
  token: "shown once, and kept in a Secret",
};

/**
 * Why a status may show these members of an answer, although a value of a Secret was sent or received: the service
 * makes them itself, or derives them from the value.
 */
const derived: Readonly<Record<string, string>> = {
  createdAt: "the service's clock",
  extendedKeyUsages: "public in a certificate",
  id: "chosen by the service",
  issuedAt: "the service's clock",
  issuerCommonName: "public in a certificate",
  keyUsages: "public in a certificate",
  notAfter: "public in a certificate",
  notBefore: "public in a certificate",
  oidc: "two numbers of seconds",
  ownerId: "an id of the service",
  privateKeyType: "one of three words",
  saml: "made by the service for the SAML module, which takes no value of a Secret",
  serialNumber: "public in a certificate",
  subjectAlternativeNames: "public in a certificate",
  subjectCommonName: "public in a certificate",
  subjectCountry: "public in a certificate",
  subjectLocality: "public in a certificate",
  subjectOrganization: "public in a certificate",
  subjectOrganizationalUnit: "public in a certificate",
  subjectProvince: "public in a certificate",
  uri: "an address of the service",
};

it("shows no field in the status of a kind with values of Secrets, unless it is listed here with the reason", () => {
  const takesSecret = ({ spec }: Kind) => [...visit(spec, "")].some(({ traits }) => traits.secret || traits.secretName);
  const confidential = kinds.filter((kind) => takesSecret(kind) || kind.output?.shownOnce);
  const shown = new Set(confidential.flatMap((kind) => Object.keys(answerFieldsOf(kind).shape)));
  expect([...shown].sort()).toEqual(Object.keys(derived));
});
