import type { Kind } from "../../schema/define.ts";
import { type Difference, differences, membersOf } from "../../schema/wire/compare.ts";
import { membersFedBy } from "../../schema/wire/needs.ts";
import type { Body } from "../../schema/wire/request.ts";
import { mergeShared, type OthersEntriesByMember, withOthersEntries } from "../../schema/wire/shared.ts";
import { isSwitchedOff } from "../../schema/wire/uses.ts";

/** What has to be sent so that a remote matches its object. An empty plan means that it matches. */
export interface Plan {
  /** Body of one update. */
  body: Body;
  /** Members that have to be removed by an operation of their own. */
  remove: string[];
  /** Spec fields that differ and that the service accepts only in a create. */
  frozen: string[];
  /** Spec fields that the plan corrects. */
  fields: string[];
  /** Members that differ and that the API page does not document for updates. */
  undocumented: string[];
}

export interface PlanInput {
  wanted: Body;
  /** The remote as `fromAnswer` returns it. */
  seen: Body;
  /** Spec fields whose values the remote has from this object, and which are cleared when the spec drops them. */
  applied: readonly string[];
  /** Members that have to be sent although they show no difference, such as those with a value of a changed Secret. */
  renewed: readonly string[];
  /** Entries that other objects want in the lists that they share with this object. */
  others?: OthersEntriesByMember;
}

export function plan(kind: Kind, given: PlanInput): Plan {
  const input = { ...given, wanted: { ...given.wanted, ...mergeShared(kind.spec, given) } };
  const differing = withRenewed(kind, input, differences(kind.spec, input.wanted, input.seen, input.applied));
  const changes = differing.filter(({ how }) => how === "change");
  const differencesOf = (how: Difference["how"]) => differing.filter((difference) => difference.how === how);
  return {
    body: withOthersEntries(kind.spec, bodyOf(kind, input, changes), given),
    remove: differencesOf("remove").map(({ member }) => member),
    frozen: differencesOf("frozen").flatMap(({ fields }) => fields),
    fields: differing.filter(({ how }) => how !== "frozen").flatMap(({ fields }) => fields),
    undocumented: changes.map(({ member }) => member).filter((member) => !kind.resource.update.includes(member)),
  };
}

export const isEmpty = ({ body, remove, frozen }: Plan): boolean =>
  Object.keys(body).length === 0 && remove.length === 0 && frozen.length === 0;

/** Adds the members of `renewed`: they have to be sent although answers show no difference, as a Secret's value. */
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
 * The body of an update. It has each module that differs, whole; the service keeps modules that are left out. If
 * anything differs, it has all other members too, because the service may clear a map or list that is left out.
 */
function bodyOf(kind: Kind, { wanted, seen }: PlanInput, changes: readonly Difference[]): Body {
  const body: Body = {};
  const modules = [...membersOf(kind.spec)].filter(([, { traits }]) => traits.module).map(([member]) => member);
  if (changes.length > 0) {
    const { update, updateUndocumented } = kind.resource;
    for (const member of update.length > 0 ? update : updateUndocumented) {
      const value = wanted[member] ?? seen[member];
      if (value !== undefined && !modules.includes(member)) body[member] = value;
    }
  }
  // Modules may go one by one, in this order. What protects a remote is on before what it replaces is off.
  for (const { member, value } of changes.toSorted(offLast)) body[member] = value;
  return body;
}

const offLast = (one: Difference, other: Difference): number =>
  Number(isSwitchedOff(one.value)) - Number(isSwitchedOff(other.value));

/**
 * Members with a value of a Secret that was not sent yet. `unsent`: the paths of their fields. Leaves out members that
 * only a create accepts: answers show their value, so they are compared like any other.
 */
export function renewedMembers(kind: Kind, spec: Record<string, unknown>, unsent: readonly string[]): string[] {
  if (unsent.length === 0) return [];
  const members = membersOf(kind.spec);
  const fed = membersFedBy(kind.spec, spec, ({ path }) => unsent.includes(path));
  return fed.filter((member) => !members.get(member)?.traits.createOnly);
}

/** Names of spec fields for messages: `spec.description, spec.labels`. */
export const specFields = (fields: readonly string[]): string => fields.map((field) => `spec.${field}`).join(", ");
