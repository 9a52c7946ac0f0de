import * as z from "zod";
import type { Kind } from "../define.ts";
import { memoize } from "../memoize.ts";
import { membersIn, type ReferenceTrait, traitsOf, unwrap } from "../traits.ts";
import { sentAs } from "./names.ts";

/**
 * A value that has to be read from another object, a Secret or a ConfigMap before the spec can be sent, with the path
 * of its field.
 */
export type Need =
  | { type: "reference"; path: string; to: { kind?: string; name?: string; id?: string }; trait: ReferenceTrait }
  | {
      type: "secret" | "configMap";
      path: string;
      name: string;
      key: string;
      problemOf?: ((value: string) => string | undefined) | undefined;
    };

/** The path of the value for one of the members of the request that a Secret feeds. */
export const secretMemberPath = (path: string, member: string): string => `${path}#${member}`;

/** The spec field of a path, for messages. Also accepts a path from `secretMemberPath`. */
export const fieldOfPath = (path: string): string => `spec.${path.split("#")[0]}`;

/** The path of a field in the names of the API. */
export function sentPath(schema: z.ZodType, path: string): string {
  const [fields = "", member] = path.split("#");
  if (member !== undefined) return member;
  let at: z.ZodType = schema;
  const parts = [...fields.matchAll(/([^.[\]]+)(\])?/g)].map(([, part = "", isIndex]) => {
    const inner = unwrap(at);
    if (isIndex && inner instanceof z.ZodArray) {
      at = inner.element as z.ZodType;
      return `[${part}]`;
    }
    const of = inner instanceof z.ZodObject ? (inner.shape[part] as z.ZodType | undefined) : undefined;
    at = of ?? at;
    return `.${of ? sentAs(part, of) : part}`;
  });
  return parts.join("").slice(1);
}

/** The references that specs of this schema can hold. */
export const referencesIn = memoize((schema: z.ZodType): readonly ReferenceTrait[] => {
  const { reference } = traitsOf(schema);
  if (reference) return [reference];
  const inner = unwrap(schema);
  if (inner instanceof z.ZodArray) return referencesIn(inner.element as z.ZodType);
  if (!(inner instanceof z.ZodObject)) return [];
  return Object.values(inner.shape).flatMap((member) => referencesIn(member));
});

/** The kinds that specs of this schema can refer to. */
export const targetKindsOf = (schema: z.ZodType): string[] => referencesIn(schema).flatMap(({ kinds }) => kinds);

/** For each kind, by name, the status fields of its objects that other objects send when they refer to them. */
const allSentStatusFields = memoize((kinds: readonly Pick<Kind, "spec">[]): ReadonlyMap<string, readonly string[]> => {
  const references = kinds.flatMap(({ spec }) => referencesIn(spec));
  const fields = references.flatMap(({ kinds: targets, statusField }) =>
    targets.map((kind) => ({ kind, statusField })),
  );
  const byKind = Map.groupBy(fields, ({ kind }) => kind);
  return new Map([...byKind].map(([kind, some]) => [kind, [...new Set(some.map((one) => one.statusField))]]));
});

/** The status fields of objects of `kind` that other objects send when they refer to them. */
export const sentStatusFields = (kind: string, kinds: readonly Pick<Kind, "spec">[]): readonly string[] =>
  allSentStatusFields(kinds).get(kind) ?? [];

/** Whether a value of this schema, or one in it, can be read from somewhere else. */
const canNeed = (schema: z.ZodType): boolean => {
  const { secretName, secret, configMap, reference } = traitsOf(schema);
  if (secretName || secret || configMap || reference) return true;
  const inner = unwrap(schema);
  if (inner instanceof z.ZodArray) return canNeed(inner.element as z.ZodType);
  return inner instanceof z.ZodObject && fieldsWithNeeds(inner).length > 0;
};

/** The fields of an object that can have needs. Most have none, and each version of each object is looked through. */
const fieldsWithNeeds = memoize((schema: z.ZodObject): readonly [string, z.ZodType][] =>
  membersIn(schema).filter(([, member]) => canNeed(member)),
);

/** All needs of a spec, in the order of its fields. */
export function needsOf(schema: z.ZodType, value: unknown, path = ""): Need[] {
  if (value === undefined || value === null) return [];
  const traits = traitsOf(schema);
  const inner = unwrap(schema);
  if (traits.secretName) {
    return Object.entries(traits.secretName.members).map(([member, { key }]): Need => {
      return { type: "secret", path: secretMemberPath(path, member), name: value as string, key };
    });
  }
  if (traits.secret || traits.configMap) {
    const type = traits.secret ? "secret" : "configMap";
    const { problemOfValue: problemOf } = traits;
    return [{ type, path, ...(value as { name: string; key: string }), ...(problemOf && { problemOf }) }];
  }
  if (inner instanceof z.ZodArray) {
    const items = value as unknown[];
    const { reference } = traits;
    return items.flatMap((item, index): Need[] =>
      reference
        ? [{ type: "reference", path: `${path}[${index}]`, to: item as object, trait: reference }]
        : needsOf(inner.element as z.ZodType, item, `${path}[${index}]`),
    );
  }
  if (traits.reference) return [{ type: "reference", path, to: value as object, trait: traits.reference }];
  if (!(inner instanceof z.ZodObject)) return [];
  return fieldsWithNeeds(inner).flatMap(([field, member]) =>
    needsOf(member, (value as Record<string, unknown>)[field], path ? `${path}.${field}` : field),
  );
}

/** The members of the request that are made from these needs. */
export function membersFedBy(
  schema: z.ZodObject,
  spec: Readonly<Record<string, unknown>>,
  isMeant: (need: Need) => boolean,
): string[] {
  return fieldsWithNeeds(schema).flatMap(([field, member]) => {
    if (!needsOf(member, spec[field], field).some(isMeant)) return [];
    const { secretName } = traitsOf(member);
    return secretName ? Object.keys(secretName.members) : [sentAs(field, member)];
  });
}
