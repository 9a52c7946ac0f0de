import { isDeepStrictEqual } from "node:util";
import type * as z from "zod";
import type { SecretVersion } from "../../objects/object.ts";
import type { Kind } from "../../schema/define.ts";
import { traitsOf } from "../../schema/traits.ts";
import { type Difference, differences, membersOf } from "../../schema/wire/compare.ts";
import { sentAs } from "../../schema/wire/names.ts";
import { needsOf } from "../../schema/wire/needs.ts";
import type { Body } from "../../schema/wire/request.ts";
import { type Claims, withClaims, withOthers } from "../../schema/wire/shared.ts";

/** What has to be sent so that a remote is as its object says. Nothing in it means nothing to do. */
export interface Plan {
  /** One PATCH. */
  body: Body;
  /** Members that are removed by an operation of their own. */
  remove: string[];
  /** Spec fields that the service takes on create only, and that differ. */
  frozen: string[];
  /** Spec fields that the plan puts right. */
  fields: string[];
  /** Members that differ and that the page does not show in updates. */
  undocumented: string[];
}

export interface PlanInput {
  wanted: Body;
  /** As `fromAnswer` shaped it. */
  seen: Body;
  /** Spec fields whose values the remote has from this object. */
  applied: readonly string[];
  /** Members with a Secret in them whose value has changed. */
  renewed: readonly string[];
  /** What other objects want of lists that they share with this one. */
  claims?: Claims;
}

export function plan(kind: Kind, given: PlanInput): Plan {
  const input = { ...given, wanted: { ...given.wanted, ...withOthers(kind.spec, given) } };
  const differing = withRenewed(kind, input, differences(kind.spec, input.wanted, input.seen, input.applied));
  const changes = differing.filter(({ how }) => how === "change");
  const differencesOf = (how: Difference["how"]) => differing.filter((difference) => difference.how === how);
  return {
    body: withClaims(kind.spec, bodyOf(kind, input, changes), given),
    remove: differencesOf("remove").map(({ member }) => member),
    frozen: differencesOf("frozen").flatMap(({ fields }) => fields),
    fields: differing.filter(({ how }) => how !== "frozen").flatMap(({ fields }) => fields),
    undocumented: changes.map(({ member }) => member).filter((member) => !kind.remote.update.includes(member)),
  };
}

export const isEmpty = ({ body, remove, frozen }: Plan): boolean =>
  Object.keys(body).length === 0 && remove.length === 0 && frozen.length === 0;

/** A Secret's value never comes back, so a new version of it is a difference in itself. */
function withRenewed(kind: Kind, { wanted, renewed }: PlanInput, found: readonly Difference[]): Difference[] {
  const members = membersOf(kind.spec);
  const added = renewed
    .filter((member) => wanted[member] !== undefined && found.every((difference) => difference.member !== member))
    .map((member): Difference => {
      const { fields = [], traits } = members.get(member) ?? {};
      return { member, fields, how: traits?.immutable ? "frozen" : "change", value: wanted[member] };
    });
  return [...found, ...added];
}

/**
 * The modules that differ, each whole, since the service keeps the others. All else is sent with any change, because
 * the service may empty a map or list that an update leaves out.
 */
function bodyOf(kind: Kind, { wanted, seen }: PlanInput, changes: readonly Difference[]): Body {
  const body: Body = {};
  const modules = [...membersOf(kind.spec)].filter(([, { traits }]) => traits.onRemove).map(([member]) => member);
  if (changes.length > 0) {
    const { update, updateUndocumented } = kind.remote;
    for (const member of update.length > 0 ? update : updateUndocumented) {
      const value = wanted[member] ?? seen[member];
      if (value !== undefined && !modules.includes(member)) body[member] = value;
    }
  }
  for (const { member, value } of changes) body[member] = value;
  return body;
}

/**
 * Members that hold a value of one of the Secrets that have changed since they were sent. Those that the service takes
 * on create only show in its answers what they hold, and are compared by that.
 */
export function renewedMembers(
  kind: Kind,
  spec: Record<string, unknown>,
  current: readonly SecretVersion[],
  sent: readonly SecretVersion[] | undefined,
): string[] {
  const changed = current.filter(
    ({ name, resourceVersion }) => !sent?.some((one) => isDeepStrictEqual(one, { name, resourceVersion })),
  );
  const names = new Set(changed.map(({ name }) => name));
  const members = Object.entries(kind.spec.shape) as [string, z.ZodType][];
  return members
    .filter(([field, schema]) =>
      needsOf(schema, spec[field]).some((need) => need.sort === "secret" && names.has(need.name)),
    )
    .filter(([, schema]) => !traitsOf(schema).spreads && !traitsOf(schema).createOnly)
    .map(([field, schema]) => sentAs(field, schema));
}

/** Names of spec fields for messages: `spec.description, spec.labels`. */
export const specFields = (fields: readonly string[]): string => fields.map((field) => `spec.${field}`).join(", ");
