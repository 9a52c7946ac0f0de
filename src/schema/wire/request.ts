import * as z from "zod";
import { defaultOf, membersIn, traitsOf, unwrap } from "../traits.ts";
import { sentAs } from "./names.ts";
import { secretMemberPath } from "./needs.ts";

/** Members of a request, by the service's names. */
export type Body = Record<string, unknown>;

/** The resolved values of references, Secrets and ConfigMaps, by the path of their field. */
export type Resolved = ReadonlyMap<string, unknown>;

/** The request for a spec, without unset fields. Every need of the spec must be in `resolved`. */
export function toRequest(schema: z.ZodObject, spec: Record<string, unknown>, resolved: Resolved, path = ""): Body {
  const body: Body = {};
  for (const [field, member] of membersIn(schema)) {
    const value = spec[field];
    const traits = traitsOf(member);
    if (value === undefined || value === null || traits.notInBody) continue;
    const at = path ? `${path}.${field}` : field;
    if (traits.secretName) {
      for (const name of Object.keys(traits.secretName.members)) body[name] = resolved.get(secretMemberPath(at, name));
    } else {
      add(body, sentAs(field, member), encode(member, value, resolved, at));
    }
  }
  return body;
}

/** Members that a create sends although the spec leaves them unset. */
export const createDefaults = (schema: z.ZodObject): Body =>
  Object.fromEntries(
    membersIn(schema).flatMap(([field, member]) => {
      const { unset } = traitsOf(member);
      return unset?.onCreate === undefined ? [] : [[sentAs(field, member), unset.onCreate]];
    }),
  );

/** Two fields may feed one list. A value that both name is there once. */
function add(body: Body, name: string, value: unknown): void {
  const present = body[name];
  body[name] = Array.isArray(present) && Array.isArray(value) ? [...new Set([...present, ...value])] : value;
}

function encode(schema: z.ZodType, value: unknown, resolved: Resolved, path: string): unknown {
  const { encode: reshape } = traitsOf(schema);
  const plain = resolveValue(schema, value, resolved, path);
  return reshape ? reshape(plain as never) : plain;
}

function resolveValue(schema: z.ZodType, value: unknown, resolved: Resolved, path: string): unknown {
  const traits = traitsOf(schema);
  const inner = unwrap(schema);
  if (inner instanceof z.ZodArray) {
    const item = (one: unknown, at: string) =>
      traits.reference ? resolved.get(at) : encode(inner.element as z.ZodType, one, resolved, at);
    const items = (value as unknown[]).map((one, index) => item(one, `${path}[${index}]`));
    // A reference by name and one by id may lead to the same remote: in the comparison of an object that only observes,
    // and in no request, since that is refused.
    return traits.reference ? [...new Set(items)] : items;
  }
  if (traits.secret || traits.configMap || traits.reference) return resolved.get(path);
  if (inner instanceof z.ZodObject) return toRequest(inner, withDefaults(inner, value as Body), resolved, path);
  return value;
}

/** Fills in the defaults inside optional objects. The API server has filled in all others. */
function withDefaults(schema: z.ZodObject, value: Body): Body {
  const defaults = membersIn(schema).map(([field, member]) => [field, defaultOf(member)]);
  return { ...Object.fromEntries(defaults), ...value };
}
