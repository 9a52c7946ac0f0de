import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type * as z from "zod";
import { otherValues, specs } from "../../../test/fakes/schema/arbitrary.ts";
import { kinds } from "../../kinds/index.ts";
import { isEmpty, plan } from "../../reconcile/desired/plan.ts";
import type { Kind } from "../define.ts";
import { traitsOf } from "../traits.ts";
import { fromAnswer } from "./answer.ts";
import { appliedPaths, withoutHidden } from "./applied.ts";
import { differences, membersOf } from "./compare.ts";
import { needsOf } from "./needs.ts";
import { answerTo, updated } from "./prediction.ts";
import { type Body, toRequest } from "./request.ts";

type Spec = Record<string, unknown>;

/** Each name stands for an id of its own, each Secret for a value of its own. */
function requestOf(kind: Kind, spec: Spec): Body {
  const values = needsOf(kind.spec, spec).map((need): [string, string] => {
    if (need.type !== "reference") return [need.path, `value of ${need.name}/${need.key}`];
    return [need.path, need.to.id ?? `${need.to.kind ?? need.trait.kinds[0]}_${need.to.name}`];
  });
  return toRequest(kind.spec, spec, new Map(values));
}

const seenAs = (kind: Kind, row: Spec): Body => fromAnswer(kind.spec, row);

/** What the service has after the plan was carried out. */
function carriedOut(kind: Kind, row: Spec, { body, remove }: ReturnType<typeof plan>): Spec {
  const patched = Object.keys(body).length > 0 ? updated(kind.resource, row, body) : row;
  return { ...patched, ...Object.fromEntries(remove.map((member) => [member, null])) };
}

const fieldsOf = (kind: Kind) => Object.entries(kind.spec.shape) as [string, z.ZodType][];

/** Members of the request that a field feeds, but for those that come back in no answer. */
const comparedMembers = (kind: Kind, field: string): string[] =>
  [...membersOf(kind.spec)]
    .filter(([, { fields, traits }]) => fields.includes(field) && !traits.secret)
    .map(([member]) => member);

const isFrozen = (schema: z.ZodType): boolean => {
  const { immutable, createOnly, secretName } = traitsOf(schema);
  return immutable === true || createOnly === true || secretName !== undefined;
};

const runs = { numRuns: 25 };

describe.each(kinds.map((kind) => [kind.kind, kind] as const))("%s", (_, kind) => {
  const valid = specs(kind);

  it("finds what it asked for in the answer", () => {
    fc.assert(
      fc.property(valid, (spec) => {
        const wanted = requestOf(kind, spec);
        const answer = answerTo(kind.resource, wanted);
        expect(kind.resource.wire.safeParse({ ...answer, id: "x_1" }).error).toBeUndefined();
        expect(differences(kind.spec, wanted, seenAs(kind, answer), Object.keys(spec))).toEqual([]);
      }),
      runs,
    );
  });

  it("plans nothing where nothing differs", () => {
    fc.assert(
      fc.property(valid, (spec) => {
        const wanted = requestOf(kind, spec);
        const seen = seenAs(kind, answerTo(kind.resource, wanted));
        expect(isEmpty(plan(kind, { wanted, seen, applied: Object.keys(spec), renewed: [] }))).toBe(true);
      }),
      runs,
    );
  });

  it("sees each change of one field, and the plan puts it right and nothing else wrong", () => {
    const changed = valid.chain((spec) => {
      const changes = fieldsOf(kind)
        .filter(([field]) => spec[field] !== undefined)
        .flatMap(([field, schema]) => otherValues(schema, spec[field]).map((value) => ({ spec, field, value })));
      return changes.length > 0 ? fc.constantFrom(...changes) : fc.constant(undefined);
    });
    fc.assert(
      fc.property(changed, (change) => {
        if (!change) return;
        const { spec, field, value } = change;
        const row = answerTo(kind.resource, requestOf(kind, spec));
        const wanted = requestOf(kind, { ...spec, [field]: value });
        const applied = appliedPaths(kind.spec, spec);
        const made = plan(kind, { wanted, seen: seenAs(kind, row), applied, renewed: [] });
        const schema = kind.spec.shape[field] as z.ZodType;
        const found = differences(kind.spec, wanted, seenAs(kind, row), applied);
        expect(found.map(({ member }) => member)).toEqual(comparedMembers(kind, field));
        if (isFrozen(schema)) {
          expect(made).toMatchObject({ body: {}, remove: [], frozen: expect.arrayContaining([field]) });
          return;
        }
        const after = carriedOut(kind, row, made);
        expect(differences(kind.spec, wanted, seenAs(kind, after), withoutHidden(applied))).toEqual([]);
      }),
      runs,
    );
  });

  it("clears a field that was set and is removed, and keeps every other", () => {
    const without = valid.chain((spec) => {
      const removable = fieldsOf(kind).filter(
        ([field, schema]) => spec[field] !== undefined && !isFrozen(schema) && schema.safeParse(undefined).success,
      );
      return removable.length > 0
        ? fc.constantFrom(...removable.map(([field]) => ({ spec, field })))
        : fc.constant(undefined);
    });
    fc.assert(
      fc.property(without, (removal) => {
        if (!removal) return;
        const { [removal.field]: _, ...rest } = removal.spec;
        const row = answerTo(kind.resource, requestOf(kind, removal.spec));
        const applied = appliedPaths(kind.spec, removal.spec);
        const wanted = requestOf(kind, rest);
        const made = plan(kind, { wanted, seen: seenAs(kind, row), applied, renewed: [] });
        const after = seenAs(kind, carriedOut(kind, row, made));
        expect(differences(kind.spec, wanted, after, withoutHidden(applied))).toEqual([]);
        expect(differences(kind.spec, wanted, after, [])).toEqual([]);
      }),
      runs,
    );
  });

  it("leaves fields alone that this object never set", () => {
    fc.assert(
      fc.property(valid, (spec) => {
        const seen = seenAs(kind, answerTo(kind.resource, requestOf(kind, spec)));
        expect(isEmpty(plan(kind, { wanted: {}, seen, applied: [], renewed: [] }))).toBe(true);
      }),
      runs,
    );
  });
});
