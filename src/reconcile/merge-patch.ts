import { isDeepStrictEqual } from "node:util";

type Map = Readonly<Record<string, unknown>>;

/** The JSON merge patch (RFC 7396) that turns one object into another; empty when they are equal. */
export function mergePatch(before: Map, after: Map): Record<string, unknown> {
  const patch: Record<string, unknown> = {};
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [was, is] = [before[name], after[name]];
    if (isDeepStrictEqual(was, is)) continue;
    if (is === undefined) patch[name] = null;
    else patch[name] = isMap(was) && isMap(is) ? mergePatch(was, is) : is;
  }
  return patch;
}

const isMap = (value: unknown): value is Map => typeof value === "object" && value !== null && !Array.isArray(value);
