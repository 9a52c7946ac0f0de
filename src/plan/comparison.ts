import * as z from "zod";
import { withoutSecrets } from "../account/requests/calls.ts";
import type { ManagedObject, SecretVersion } from "../objects/object.ts";
import { withoutOwnerMark } from "../objects/ownership.ts";
import { isReconcileError } from "../objects/reconcile-error.ts";
import { appliedSecretsOf, unsentFields } from "../objects/secret-versions.ts";
import type { Cluster } from "../reconcile/cluster.ts";
import { resolveDesired } from "../reconcile/desired/desired.ts";
import { othersEntriesOf } from "../reconcile/use/sharing.ts";
import type { Answer, Kind } from "../schema/define.ts";
import { unwrap } from "../schema/traits.ts";
import { fromAnswer } from "../schema/wire/answer.ts";
import { type Difference, differences, isUnset, membersOf, same } from "../schema/wire/compare.ts";
import { needsOf, sentPath } from "../schema/wire/needs.ts";
import type { Body } from "../schema/wire/request.ts";
import { mergeShared } from "../schema/wire/shared.ts";
import { differing, isObject, secretsOf } from "./field-changes.ts";

export const fieldStates = ["differs", "unmanaged", "hidden"] as const;

/** A member of a remote, compared with the spec, by its path in the names of the API. */
export interface ComparedField {
  path: string;
  /**
   * - differs: the account has another value than the spec, or a value that the spec has dropped.
   * - unmanaged: the spec does not set it, so the operator leaves it as it is.
   * - hidden: the value comes from a Secret, and no answer shows it.
   */
  state: (typeof fieldStates)[number];
  /** Unset: the spec has no value, or it is secret. */
  spec?: unknown;
  /** Unset: the account has no value, or it is secret. */
  account?: unknown;
  /** The value comes from a Secret, and is not shown. */
  secret?: true;
  /** The service cannot change it in place. */
  immutable?: true;
}

export interface Comparison {
  fields: ComparedField[];
  /** References of the spec whose targets do not exist. Fields that need them are not compared. */
  problems: string[];
}

/** The spec of an object beside its remote, compared as the reconciler does. No value of a Secret is in the result. */
export async function compareWithRemote(
  kind: Kind,
  object: ManagedObject,
  remote: Answer,
  cluster: Cluster,
): Promise<Comparison> {
  const applied = object.status?.appliedFields ?? [];
  const seen = withoutMark(fromAnswer(kind.spec, remote));
  const wanted = await resolveMembers(kind, object, cluster);
  const others = othersEntriesOf({ kind, object, cluster });
  const shared = mergeShared(kind.spec, { wanted: wanted.body, seen, applied, others });
  const found = new Map(
    differences(kind.spec, { ...wanted.body, ...shared }, seen, applied).map((one) => [one.member, one]),
  );
  const isChanged = (member: string): boolean => found.has(member);
  const secrets = secretFields(kind, object, wanted.secrets).filter(({ path }) => !wanted.unresolved.has(topOf(path)));
  const secretPaths = new Set(secrets.map(({ path }) => path));
  const plain = [...membersOf(kind.spec)].flatMap(([member, { fields, schema }]): ComparedField[] => {
    if (wanted.unresolved.has(member) || secretPaths.has(member)) return [];
    const isOurs = wanted.open[member] !== undefined || fields.some((field) => applied.includes(field));
    const value = { ...wanted.open, ...shared }[member];
    return memberFields(schema, { member, value, seen: seen[member], isOurs, difference: found.get(member) });
  });
  const fields = [
    ...plain.filter(({ path }) => !secretPaths.has(path)),
    ...secrets.flatMap((field): ComparedField[] => {
      const isShown = seen[field.path] !== undefined;
      if (isChanged(field.path)) return [{ ...field, state: "differs" }];
      return isShown && field.state === "hidden" ? [] : [field];
    }),
  ];
  return { fields: fields.map((field) => withoutSecretValues(field, kind)), problems: wanted.problems };
}

interface ComparedMember {
  member: string;
  value: unknown;
  seen: unknown;
  /** Whether the spec sets it, or has set it before. */
  isOurs: boolean;
  difference: Difference | undefined;
}

function memberFields(schema: z.ZodType, given: ComparedMember): ComparedField[] {
  const { member, value, seen, isOurs, difference } = given;
  const leaves = leavesOf(schema, member, value, seen);
  if (!isOurs) return leaves.map(({ path, account }) => ({ path, state: "unmanaged", account }));
  if (!difference) return value === undefined ? [] : leaves.filter(({ state }) => state === "unmanaged");
  const isTold = leaves.some(({ state }) => state === "differs");
  const all = isTold ? leaves : [...leaves, ...differingLeaves(member, value, seen)];
  const isFrozen = difference.how === "frozen";
  return all.map((field) => (isFrozen && field.state === "differs" ? { ...field, immutable: true } : field));
}

/** The single values that differ or that only the account has. Members of a module that is set are all specified. */
function leavesOf(schema: z.ZodType, path: string, wanted: unknown, seen: unknown): ComparedField[] {
  if (isUnset(wanted) && isUnset(seen)) return [];
  const inner = unwrap(schema);
  if (inner instanceof z.ZodObject && [wanted, seen].every((value) => isUnset(value) || isObject(value))) {
    const [spec, account] = [(wanted ?? {}) as Body, (seen ?? {}) as Body];
    return [...membersOf(inner)].flatMap(([name, member]) =>
      leavesOf(member.schema, `${path}.${name}`, spec[name], account[name]),
    );
  }
  if (!same(schema, wanted, seen)) return differingLeaves(path, wanted, seen);
  return isUnset(wanted) ? [{ path, state: "unmanaged", account: seen }] : [];
}

const differingLeaves = (path: string, wanted: unknown, seen: unknown): ComparedField[] =>
  differing(path, seen, wanted).map((change) => ({
    path: change.path,
    state: "differs",
    ...("new" in change && { spec: change.new }),
    ...("old" in change && { account: change.old }),
  }));

/**
 * The fields with values from Secrets. A field differs if its Secret has changed since the value was sent. Otherwise
 * the state is unknown, since no answer shows the value.
 */
function secretFields(kind: Kind, object: ManagedObject, present: readonly SecretVersion[]): ComparedField[] {
  const unsent = unsentFields(present, appliedSecretsOf(object));
  return needsOf(kind.spec, object.spec).flatMap(({ type, path }): ComparedField[] => {
    if (type !== "secret") return [];
    return [{ path: sentPath(kind.spec, path), state: unsent.includes(path) ? "differs" : "hidden", secret: true }];
  });
}

const topOf = (path: string): string => path.split(/[.[]/)[0] ?? "";

interface ResolvedMembers {
  body: Body;
  /** Without the values of Secrets. */
  open: Body;
  secrets: SecretVersion[];
  /** Members whose fields refer to something that is missing. */
  unresolved: Set<string>;
  problems: string[];
}

/** Resolves each member alone, so that a missing reference hides no other member. */
async function resolveMembers(kind: Kind, object: ManagedObject, cluster: Cluster): Promise<ResolvedMembers> {
  const result: ResolvedMembers = { body: {}, open: {}, secrets: [], unresolved: new Set(), problems: [] };
  for (const [member, { fields }] of membersOf(kind.spec)) {
    const spec = Object.fromEntries(fields.map((field) => [field, object.spec[field]]));
    try {
      const { body, open, secrets } = await resolveDesired(kind, { ...object, spec }, cluster);
      Object.assign(result.body, body);
      Object.assign(result.open, open);
      result.secrets.push(...secrets);
    } catch (error) {
      if (!isReconcileError(error)) throw error;
      result.unresolved.add(member);
      if (!result.problems.includes(error.message)) result.problems.push(error.message);
    }
  }
  return result;
}

function withoutMark(seen: Body): Body {
  const { metadata, ...rest } = seen;
  const users = typeof metadata === "string" ? withoutOwnerMark(metadata) : metadata;
  return { ...rest, ...(!isUnset(users) && { metadata: users }) };
}

function withoutSecretValues(field: ComparedField, kind: Kind): ComparedField {
  const { path, state } = field;
  const names = secretsOf(kind);
  if (path.split(/[.[\]]+/).some((part) => names.includes(part))) return { path, state, secret: true };
  return withoutSecrets(field, names) as ComparedField;
}
