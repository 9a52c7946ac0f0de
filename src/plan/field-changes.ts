import { isDeepStrictEqual } from "node:util";
import type { Kind } from "../schema/define.ts";
import { isUnset } from "../schema/wire/compare.ts";

/** A member of a request, by its path in the names of the API. */
export interface FieldChange {
  path: string;
  /** Unset: the remote had no value. */
  old?: unknown;
  /** Unset: the value is removed. */
  new?: unknown;
  /** The value comes from a Secret, and is not shown. */
  secret?: true;
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The leaves that differ. Lists count as one value. */
export function differing(path: string, from: unknown, to: unknown): FieldChange[] {
  if ((isUnset(from) && isUnset(to)) || isDeepStrictEqual(from, to)) return [];
  if (isObject(to) && (isObject(from) || isUnset(from))) {
    const before = isObject(from) ? from : {};
    const keys = new Set([...Object.keys(before), ...Object.keys(to)]);
    return [...keys].flatMap((key) => differing(`${path}.${key}`, before[key], to[key]));
  }
  return [{ path, ...(!isUnset(from) && { old: from }), ...(!isUnset(to) && { new: to }) }];
}

/** The members of a remote and of its modules that hold secrets. */
export const secretsOf = ({ resource, modules }: Kind): string[] => [
  ...resource.secrets,
  ...Object.values(modules).flatMap((module) => [...module.secrets]),
];
