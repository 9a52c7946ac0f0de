import * as z from "zod";
import { memoize } from "./memoize.ts";

/** A rule in CEL that the API server checks at admission; `message` says what must hold, in words for the user. */
export interface Rule {
  rule: string;
  message: string;
  /** Where the user must look, as `.name` of a member below the schema that carries the rule. */
  fieldPath?: string;
  /** FieldValueRequired if and only if the rule refuses an object that is empty. */
  reason?: "FieldValueInvalid" | "FieldValueForbidden" | "FieldValueRequired" | "FieldValueDuplicate";
}

/** What a reference points to: objects of these kinds, and the status field of theirs that is sent. */
export interface ReferenceTrait {
  kinds: readonly string[];
  statusField: string;
  /** Without the target, others than before may get at what refers to it, or may get its traffic. */
  exposes?: true;
}

/** A member of a request that is filled from one key of a Secret. */
export interface SecretMember {
  key: string;
  /** Comes back in no answer, and is never compared. */
  secret?: true;
  normalize?: (value: unknown) => unknown;
}

/** A list to which others add entries as well. */
export interface SharedTrait {
  /** The member that tells one entry from another. */
  key: string;
  /** Objects of this kind stand for single entries. */
  kind: string;
}

/** What a field means beyond its shape. CRDs, reconciler and reference pages all read it from here. */
export interface Traits {
  /** Accepted on create only: a later change is refused at admission. */
  immutable?: true;
  /** Accepted on create only, and free to change in the spec: the remote is then replaced. */
  createOnly?: true;
  /** Refers to another object. The request has a value from its status. */
  reference?: ReferenceTrait;
  /** Stands for a value in a Secret; read at use, never compared, never shown. */
  secret?: true;
  /** Stands for a value in a ConfigMap; read at use. */
  configMap?: true;
  /** Not in the body of a request: only the operator reads it, or it is in the path. */
  notInBody?: true;
  /** Member name in requests, where it is not the snake_case of the field. */
  sends?: string;
  /** Member name in answers, where it is not that of requests. */
  returns?: string;
  /** Names a Secret. Each of these members of the request has the value of one of its keys. */
  secretMembers?: Readonly<Record<string, SecretMember>>;
  /** What is wrong with the values of `secretMembers`, by their keys. It repeats no value. Undefined: nothing. */
  problemOf?: (data: Readonly<Record<string, string>>) => string | undefined;
  /** What is wrong with the value of a Secret or ConfigMap. It repeats nothing of the value. Undefined: nothing. */
  problemOfValue?: (value: string) => string | undefined;
  /** Reshapes the resolved value for the request. */
  encode?: (resolved: never) => unknown;
  /** The reverse of `encode`, from the member of the answer and the object around it. */
  decode?: (answered: never, around: Readonly<Record<string, unknown>>) => unknown;
  /** The value that `encode` has reshaped, from the member of a request. Without it, no spec is written from answers. */
  restore?: (sent: never) => unknown;
  /** Applied to both sides before they are compared. */
  normalize?: (value: unknown) => unknown;
  /** The service chooses a value if the field is unset. That value is no difference. */
  serverDefault?: true;
  /** What a create sends if the field is unset: the service is not known to choose a value. Updates leave it alone. */
  createDefault?: unknown;
  /** What to send when a field that was set is removed, where it is not the empty value of its type. */
  clear?: unknown;
  /** How a module is removed: a request without it leaves it as it is. */
  onRemove?: "disable" | "delete";
  /** Others add entries to the list too. Only entries that this object has added are removed. */
  shared?: SharedTrait;
  /** Member of the request that the service never takes together with this one. */
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
  // clone() loses the description
  return schema.description === undefined ? copy : (copy.describe(schema.description) as S);
}

/** The traits of a schema and of what is inside its `optional` and `default` wrappers. The outermost wins. */
export const traitsOf: (schema: z.ZodType) => Traits = memoize((schema) => {
  const own = registry.get(schema) ?? {};
  const inner = wrapped(schema);
  return inner ? { ...traitsOf(inner), ...own } : own;
});

/** The traits of a schema that is no wrapper, none for a wrapper. For code that visits both. */
export const ownTraits = (schema: z.ZodType): Traits => (wrapped(schema) ? {} : (registry.get(schema) ?? {}));

function wrapped(schema: z.ZodType): z.ZodType | undefined {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodDefault
    ? (schema._zod.def.innerType as z.ZodType)
    : undefined;
}

/** What an unset field means. The API server fills in most defaults, but not those in an object that can be empty. */
export const defaultOf = (schema: z.ZodType): unknown =>
  schema instanceof z.ZodDefault ? schema._zod.def.defaultValue : undefined;

/** The schema without its `optional` and `default` wrappers. */
export function unwrap(schema: z.ZodType): z.ZodType {
  const inner = wrapped(schema);
  return inner ? unwrap(inner) : schema;
}
