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
  /** Stands for another object; what is sent is something that object's status holds. */
  reference?: ReferenceTrait;
  /** Stands for a value in a Secret; read at use, never compared, never shown. */
  secret?: true;
  /** Stands for a value in a ConfigMap; read at use. */
  configMap?: true;
  /** Not part of a request: it steers the operator. */
  notInBody?: true;
  /** Member name in requests, where it is not the snake_case of the field. */
  sends?: string;
  /** Member name in answers, where it is not that of requests. */
  returns?: string;
  /** Names a Secret, several keys of which are members of the request. */
  secretMembers?: Readonly<Record<string, SecretMember>>;
  /** Reshapes the resolved value for the request. */
  encode?: (resolved: never) => unknown;
  /** The reverse of `encode`, from the member of the answer and the object around it. */
  decode?: (answered: never, around: Readonly<Record<string, unknown>>) => unknown;
  /** Applied to both sides before they are compared. */
  normalize?: (value: unknown) => unknown;
  /** Where the field is unset the service chooses a value, which is then no difference. */
  serverDefault?: true;
  /** What to send when a field that was set is removed, where it is not the empty value of its type. */
  clear?: unknown;
  /** A part that the service replaces whole when given and keeps when not; this is how it goes away. */
  onRemove?: "disable" | "delete";
  /** What others put into this list stays there; only what this object put in is taken out again. */
  shared?: SharedTrait;
  /** Rules that the API server checks. */
  rules?: readonly Rule[];
}

const registry = z.registry<Traits>();

/** Marks a copy, so that a schema shared by two kinds never shares its marks. */
export function mark<S extends z.ZodType>(schema: S, traits: Traits): S {
  const copy = schema.clone() as S;
  const known = traitsOf(schema);
  const rules = [...(known.rules ?? []), ...(traits.rules ?? [])];
  registry.add(copy, { ...known, ...traits, ...(rules.length > 0 && { rules }) } as never);
  // a clone has lost it
  return schema.description === undefined ? copy : (copy.describe(schema.description) as S);
}

/** The marks of a schema, seen through `optional` and `default` wrappers: the outermost mark wins. */
export const traitsOf: (schema: z.ZodType) => Traits = memoize((schema) => {
  const own = registry.get(schema) ?? {};
  const inner = wrapped(schema);
  return inner ? { ...traitsOf(inner), ...own } : own;
});

/** The marks put on this very schema, for whoever visits the wrappers one by one. */
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
