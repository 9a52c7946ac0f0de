import * as z from "zod";
import { memoize } from "./memoize.ts";

/** A CEL rule that the API server checks. `message` tells the user what must hold. */
export interface Rule {
  rule: string;
  message: string;
  /**
   * Whether a value keeps the rule, for manifests that are written without the API server. True for all if the rule
   * compares the value with the one before.
   */
  holds: (self: never) => boolean;
  /** The member that is wrong, as `.name` relative to the schema that carries the rule. */
  fieldPath?: string;
  /** Use FieldValueRequired exactly for rules that refuse an empty object. */
  reason?: "FieldValueInvalid" | "FieldValueForbidden" | "FieldValueRequired" | "FieldValueDuplicate";
}

/** What a reference points to: objects of these kinds. Their status field `statusField` is sent. */
export interface ReferenceTrait {
  kinds: readonly string[];
  statusField: string;
  /** Removing the target would give other people access to the resource that refers to it, or give them its traffic. */
  exposes?: true;
}

/** A member of a request whose value is one key of a Secret. */
export interface SecretMember {
  key: string;
  /** No answer has it, so it is never compared. */
  secret?: true;
  normalize?: (value: unknown) => unknown;
}

/** What is sent of a Secret that a field names. */
export interface SecretNameTrait {
  /** Each of these members of the request gets the value of one key. */
  members: Readonly<Record<string, SecretMember>>;
  /** The problem with the values, by their keys, for a message. Must not repeat a value. Undefined: no problem. */
  problemOf?: (data: Readonly<Record<string, string>>) => string | undefined;
}

interface UnsetTrait {
  /** Sent by a create, since the API page names no default of the service. Default: nothing. */
  onCreate?: unknown;
  /** Sent by an update when a field that was set is removed. Default: the empty value of its type. */
  onUpdate?: unknown;
}

export interface ModuleTrait {
  /** How it is removed, which takes a request of its own or a change of `enabled`. */
  onRemove: "disable" | "delete";
  /** The members that say in short what it does. None of them is secret. */
  told?: readonly string[];
}

/** A list to which other objects or people also add entries. */
export interface SharedTrait {
  /** The member that identifies an entry. */
  key: string;
  /** The kind that manages single entries of the list. */
  kind: string;
}

/** Properties of a field beyond its type. CRDs, the reconciler and the reference pages all read them from here. */
export interface Traits {
  /** Accepted on create only. The API server refuses a later change. */
  immutable?: true;
  /** Accepted on create only. Users may change it in the spec: then the remote is replaced. */
  createOnly?: true;
  /** Refers to another object. The request gets a value from that object's status. */
  reference?: ReferenceTrait;
  /** Refers to a value in a Secret. It is read when it is needed, never compared and never shown. */
  secret?: true;
  /** Refers to a value in a ConfigMap. It is read when it is needed. */
  configMap?: true;
  /** Not in the body of a request: the operator uses the field itself, or it is part of the path. */
  notInBody?: true;
  /** Member name in requests. Default: the field in snake_case. */
  sends?: string;
  /** Member name in answers. Default: as in requests. */
  returns?: string;
  /** The field names a Secret, several of whose keys are sent. */
  secretName?: SecretNameTrait;
  /**
   * The problem with a text of the spec, or with the value of a Secret or ConfigMap, for a message. Must not repeat the
   * value. Undefined: no problem.
   */
  problemOfValue?: (value: string) => string | undefined;
  /** Converts the resolved value for the request. */
  encode?: (resolved: never) => unknown;
  /** The reverse of `encode`. It gets the member of the answer, and the object that the member is in. */
  decode?: (answered: never, around: Readonly<Record<string, unknown>>) => unknown;
  /**
   * The reverse of `encode` for `import`: the field's value, from a member of a request. Without it, no spec can be
   * written from answers.
   */
  restore?: (sent: never) => unknown;
  /** Applied to both sides before they are compared. */
  normalize?: (value: unknown) => unknown;
  /** The service chooses a value if the field is unset, so that value is no difference. */
  serverDefault?: true;
  /** What is sent in place of the field if it is unset. */
  unset?: UnsetTrait;
  /** A part of a resource. A request with the part replaces the whole part; one without it leaves the part as it is. */
  module?: ModuleTrait;
  /** Others also add entries to the list. The operator removes only entries that this object has added. */
  shared?: SharedTrait;
  /** The member of the request that the service refuses together with this one. */
  excludes?: string;
  /** Rules that the API server checks. */
  rules?: readonly Rule[];
}

const registry = z.registry<Traits>();

/** A copy of the schema with these traits. The schema itself may be in other kinds, and is not changed. */
export function mark<S extends z.ZodType>(schema: S, traits: Traits): S {
  const copy = schema.clone() as S;
  const known = traitsOf(schema);
  const rules = [...(known.rules ?? []), ...(traits.rules ?? [])];
  registry.add(copy, { ...known, ...traits, ...(rules.length > 0 && { rules }) } as never);
  // clone() loses the description, so set it again
  return schema.description === undefined ? copy : (copy.describe(schema.description) as S);
}

/** The traits of a schema, or of the schema inside its `optional` and `default` wrappers. The outermost traits win. */
export const traitsOf: (schema: z.ZodType) => Traits = memoize((schema) => {
  const own = registry.get(schema) ?? {};
  const inner = wrapped(schema);
  return inner ? { ...traitsOf(inner), ...own } : own;
});

/**
 * The traits of this schema only; none if it is a wrapper. For code that visits both the wrapper and the inner schema.
 */
export const ownTraits = (schema: z.ZodType): Traits => (wrapped(schema) ? {} : (registry.get(schema) ?? {}));

function wrapped(schema: z.ZodType): z.ZodType | undefined {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodDefault
    ? (schema._zod.def.innerType as z.ZodType)
    : undefined;
}

/** The members of an object schema, by name. */
export const membersIn: (schema: z.ZodObject) => readonly [string, z.ZodType][] = memoize(
  ({ shape }) => Object.entries(shape) as [string, z.ZodType][],
);

/** What an unset field means. The API server fills in most defaults, but not those inside an optional object. */
export const defaultOf = (schema: z.ZodType): unknown =>
  schema instanceof z.ZodDefault ? schema._zod.def.defaultValue : undefined;

/** The schema without its `optional` and `default` wrappers. */
export function unwrap(schema: z.ZodType): z.ZodType {
  const inner = wrapped(schema);
  return inner ? unwrap(inner) : schema;
}
