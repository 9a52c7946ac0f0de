import * as z from "zod";
import { customResources } from "../../src/kinds/index.ts";
import { traitsOf, unwrap } from "../../src/schema/traits.ts";
import { needsOf } from "../../src/schema/wire/needs.ts";
import type { KubeJSON } from "../../tools/shared/objects.ts";

/** A reference of a spec to a value in a Secret. */
export interface SecretUse {
  /** `Kind path`, without indexes of lists. */
  readonly field: string;
  readonly secret: string;
  readonly key: string;
}

/** Every field of every kind that takes a value from a Secret. */
export const secretFields = (): string[] =>
  customResources.flatMap(({ kind, spec }) => pathsIn(spec).map((path) => `${kind} ${path}`));

function pathsIn(schema: z.ZodType, path = ""): string[] {
  const { secret, secretName } = traitsOf(schema);
  if (secret) return [path];
  const spread = Object.keys(secretName?.members ?? {}).map((member) => `${path}#${member}`);
  const inner = unwrap(schema);
  if (inner instanceof z.ZodArray) return pathsIn(inner.element as z.ZodType, path);
  if (!(inner instanceof z.ZodObject)) return spread;
  return Object.entries(inner.shape).flatMap(([field, member]) =>
    pathsIn(member as z.ZodType, path ? `${path}.${field}` : field),
  );
}

/** The values of Secrets that an object uses. */
export function secretUses({ kind, spec }: KubeJSON): SecretUse[] {
  const schema = customResources.find((one) => one.kind === kind)?.spec;
  if (!schema) return [];
  const fields = new Set(secretFields());
  return needsOf(schema, spec).flatMap((need) => {
    const field = `${kind} ${need.path.replace(/\[\d+\]/g, "")}`;
    return need.type === "secret" && fields.has(field) ? [{ field, secret: need.name, key: need.key }] : [];
  });
}
