import * as z from "zod";
import type { Answer } from "../define.ts";
import { membersIn, type SecretNameTrait, traitsOf, unwrap } from "../traits.ts";
import { returnedAs, sentAs } from "./names.ts";
import type { Body } from "./request.ts";

/**
 * The request that would have produced this answer, in the members of `toRequest`. Leaves out secrets, even if the
 * answer has them, and members that the schema does not know.
 */
export function fromAnswer(schema: z.ZodObject, answer: Answer): Body {
  const body: Body = {};
  for (const [field, member] of membersIn(schema)) {
    const { notInBody, secret, secretName } = traitsOf(member);
    if (notInBody || secret) continue;
    if (secretName) Object.assign(body, secretMembersFrom(secretName, answer));
    else Object.assign(body, memberFrom(field, member, answer));
  }
  return body;
}

function memberFrom(field: string, schema: z.ZodType, answer: Answer): Body {
  const value = answer[returnedAs(field, schema)];
  return isSet(value) ? { [sentAs(field, schema)]: decode(schema, value, answer) } : {};
}

const secretMembersFrom = ({ members }: SecretNameTrait, answer: Answer): Body =>
  Object.fromEntries(
    Object.entries(members).flatMap(([name, { secret }]) =>
      !secret && isSet(answer[name]) ? [[name, answer[name]]] : [],
    ),
  );

const isSet = (value: unknown): boolean => value !== undefined && value !== null;

function decode(schema: z.ZodType, value: unknown, around: Answer): unknown {
  const traits = traitsOf(schema);
  if (traits.decode) return traits.decode(value as never, around);
  const inner = unwrap(schema);
  if (inner instanceof z.ZodArray && Array.isArray(value)) {
    return value.map((item) => (traits.reference ? idOf(item) : decode(inner.element as z.ZodType, item, around)));
  }
  if (traits.reference) return idOf(value);
  if (inner instanceof z.ZodObject && isObject(value)) return fromAnswer(inner, value);
  return value;
}

const idOf = (ref: unknown): unknown => (isObject(ref) ? ref["id"] : ref);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The members of an answer that the status keeps, by the names of the status schema. Unset members are left out. */
export function toStatus(schema: z.ZodType, value: unknown): unknown {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodArray && Array.isArray(value)) {
    return value.map((item) => toStatus(inner.element as z.ZodType, item));
  }
  if (!(inner instanceof z.ZodObject) || !isObject(value)) return wellFormed(value);
  const status: Record<string, unknown> = {};
  for (const [field, member] of membersIn(inner)) {
    const shown = value[returnedAs(field, member)];
    if (shown === undefined || shown === null || shown === "") continue;
    const { decode } = traitsOf(member);
    const decoded = decode ? decode(shown as never, value) : shown;
    if (decoded !== undefined) status[field] = toStatus(member, decoded);
  }
  return status;
}

/** The API server would change half of a surrogate pair, and then the status would differ for ever. */
const wellFormed = (value: unknown): unknown => (typeof value === "string" ? value.toWellFormed() : value);

/**
 * Most bytes of one member of an answer in a status. Kubernetes refuses objects of about 1.5 MB, and whoever may write in
 * the account may write large texts.
 */
export const MOST_SHOWN_BYTES = 32 * 1024;

export interface Shown {
  status: Record<string, unknown>;
  /** Names of status fields that are left out, since a part of a value would look like the whole. */
  tooLarge: string[];
}

/** `toStatus` of a whole answer, for a status that is written. */
export function shownOf(schema: z.ZodObject, answer: Answer): Shown {
  const fields = Object.entries(toStatus(schema, answer) as Record<string, unknown>);
  const tooLarge = fields.filter(([, value]) => !fits(value)).map(([name]) => name);
  const shown = tooLarge.length > 0 ? fields.filter(([name]) => !tooLarge.includes(name)) : fields;
  return { status: Object.fromEntries(shown), tooLarge };
}

/** A unit of a text takes six bytes at most, as an escape. */
const fits = (value: unknown): boolean =>
  (typeof value === "string" && value.length * 6 + 2 <= MOST_SHOWN_BYTES) ||
  Buffer.byteLength(JSON.stringify(value)) <= MOST_SHOWN_BYTES;
