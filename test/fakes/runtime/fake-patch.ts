import { isDeepStrictEqual } from "node:util";
import type { KubeObject } from "../../../src/runtime/object.ts";
import { Refused } from "./fake-storage.ts";

export interface Operation {
  op: string;
  path: string;
  value?: unknown;
}

type Container = Record<string, unknown>;

/** The object after a JSON patch of `test`, `add` and `remove`. Throws what a real API server would answer. */
export function applyPatch(object: KubeObject, operations: readonly Operation[]): KubeObject {
  const result = structuredClone(object);
  for (const { op, path, value } of operations) {
    const names = path.split("/").slice(1).map(unescaped);
    const last = names.pop() ?? "";
    const parent = names.reduce<Container | undefined>((at, name) => at?.[name] as Container | undefined, result);
    if (!parent) throw new Refused(422, "Invalid", `${path} is not there`);
    if (op === "test" && !isDeepStrictEqual(parent[last] ?? null, value))
      throw new Refused(422, "Invalid", "test failed");
    if (op === "add") parent[last] = value;
    if (op === "remove") remove(parent, last);
  }
  return result;
}

const unescaped = (name: string): string => name.replaceAll("~1", "/").replaceAll("~0", "~");

function remove(parent: Container, name: string): void {
  if (Array.isArray(parent)) parent.splice(Number(name), 1);
  else delete parent[name];
}
