import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import { memoize } from "../memoize.ts";
import { mark, membersIn, type SecretNameTrait, type Traits, traitsOf, unwrap } from "../traits.ts";
import { removesHidden } from "./applied.ts";
import { sentAs } from "./names.ts";
import type { Body } from "./request.ts";

/** A member of the request whose value in the account differs from the wanted one. */
export interface Difference {
  /** Member of the request. */
  member: string;
  /** The spec fields from which the member is made. */
  fields: string[];
  /**
   * - change: send `value`.
   * - remove: delete the module by its own request.
   * - frozen: cannot be sent, since the service takes it on create only.
   */
  how: "change" | "remove" | "frozen";
  value?: unknown;
}

interface Member {
  fields: string[];
  schema: z.ZodType;
  traits: Traits;
}

/**
 * The differences to send so that `seen` becomes `wanted`. Both are requests, `seen` from `fromAnswer`. An unset member
 * is left alone, unless `applied` names one of its fields: then we set it before, so it is cleared.
 */
export function differences(schema: z.ZodObject, wanted: Body, seen: Body, applied: readonly string[]): Difference[] {
  const found: Difference[] = [];
  for (const [member, { fields, schema: of, traits }] of membersOf(schema)) {
    const ours = wanted[member] !== undefined || fields.some((field) => applied.includes(field));
    if (!ours) continue;
    const difference = removesHidden(fields, of, wanted[member], applied)
      ? ({ how: "change", value: wanted[member] } as const)
      : wanted[member] === undefined
        ? removal(of, traits, seen[member])
        : change(of, traits, wanted[member], seen[member]);
    if (difference) found.push({ member, fields, ...difference });
  }
  return found;
}

function change(
  schema: z.ZodType,
  traits: Traits,
  wanted: unknown,
  seen: unknown,
): Pick<Difference, "how" | "value"> | undefined {
  // Answers may leave out a member that was sent. If the member cannot be changed anyway, assume that it is unchanged.
  if (same(schema, wanted, seen) || (traits.immutable && seen === undefined)) return undefined;
  return { how: isFrozen(traits) ? "frozen" : "change", value: wanted };
}

function removal(schema: z.ZodType, traits: Traits, seen: unknown): Pick<Difference, "how" | "value"> | undefined {
  if (isUnset(seen)) return undefined;
  const { module, unset = {} } = traits;
  if (module?.onRemove === "delete") return { how: "remove" };
  if (module?.onRemove === "disable") return disabled(seen as Body);
  const value = "onUpdate" in unset ? unset.onUpdate : emptyOf(schema);
  return same(schema, value, seen) ? undefined : { how: isFrozen(traits) ? "frozen" : "change", value };
}

const isFrozen = ({ immutable, createOnly }: Traits): boolean => immutable === true || createOnly === true;

/** Switches a module off. It sends the settings that the account has, which the service has accepted before. */
function disabled(seen: Body): Pick<Difference, "how" | "value"> | undefined {
  return seen["enabled"] === false ? undefined : { how: "change", value: { ...seen, enabled: false } };
}

/** The members of the request, each with the spec fields from which it is made. */
export const membersOf: (schema: z.ZodObject) => ReadonlyMap<string, Member> = memoize((schema) => {
  const members = new Map<string, Member>();
  for (const [field, member] of membersIn(schema)) {
    const traits = traitsOf(member);
    if (traits.notInBody) continue;
    if (traits.secretName) {
      for (const [name, spread] of secretMembersOf(field, traits.secretName)) members.set(name, spread);
      continue;
    }
    const name = sentAs(field, member);
    const known = members.get(name);
    if (known) known.fields.push(field);
    else members.set(name, { fields: [field], schema: member, traits });
  }
  return members;
});

const secretMembersOf = (field: string, { members }: SecretNameTrait): [string, Member][] =>
  Object.entries(members).map(([name, { secret, normalize }]) => {
    const traits: Traits = { createOnly: true, ...(secret && { secret }), ...(normalize && { normalize }) };
    return [name, { fields: [field], schema: mark(z.string(), traits), traits }];
  });

/** Whether two values of a field mean the same to the service. Unset, null, "", [] and {} are equal. */
export function same(schema: z.ZodType, wanted: unknown, seen: unknown): boolean {
  const { secret, serverDefault, normalize = (value: unknown) => value } = traitsOf(schema);
  if (secret) return true;
  if (serverDefault && isUnset(wanted)) return true;
  const inner = unwrap(schema);
  if (inner instanceof z.ZodObject && isMap(wanted ?? {}) && isMap(seen ?? {})) {
    return sameMembers(inner, (wanted ?? {}) as Body, (seen ?? {}) as Body);
  }
  if (inner instanceof z.ZodArray && inner.element instanceof z.ZodObject && bothLists(wanted, seen)) {
    const [left, right] = [normalize(wanted) as unknown[], normalize(seen) as unknown[]];
    return (
      left.length === right.length && left.every((item, index) => same(inner.element as z.ZodType, item, right[index]))
    );
  }
  return isDeepStrictEqual(orUnset(normalize(wanted)), orUnset(normalize(seen)));
}

const sameMembers = (schema: z.ZodObject, wanted: Body, seen: Body): boolean =>
  membersIn(schema).every(([field, member]) => {
    const name = sentAs(field, member);
    return same(member, wanted[name], seen[name]);
  });

const isMap = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value);
const bothLists = (left: unknown, right: unknown): boolean => Array.isArray(left) && Array.isArray(right);

/** Unset, null, "", [] and {} mean the same to the service. */
export const isUnset = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === "" ||
  (Array.isArray(value) && value.length === 0) ||
  (isMap(value) && Object.keys(value as object).length === 0);

const orUnset = (value: unknown): unknown => (isUnset(value) ? undefined : value);

function emptyOf(schema: z.ZodType): unknown {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodString) return "";
  if (inner instanceof z.ZodArray) return [];
  if (inner instanceof z.ZodRecord) return {};
  return null;
}

/**
 * The updates to send, one after another, in place of this one. Members that exclude each other are never sent
 * together: the first update removes one, the second sets the other.
 */
export function withoutExclusions(schema: z.ZodObject, body: Body): Body[] {
  for (const [member, { traits }] of membersOf(schema)) {
    const other = traits.excludes;
    if (other === undefined || !(member in body) || !(other in body)) continue;
    const [cleared, set] = isUnset(body[member]) ? [member, other] : [other, member];
    return [without(body, set), without(body, cleared)];
  }
  return [body];
}

const without = (body: Body, name: string): Body =>
  Object.fromEntries(Object.entries(body).filter(([member]) => member !== name));
