import { needsOf } from "../../schema/wire/needs.ts";
import { sortedAfter } from "../graph/reached.ts";
import type { OwnObject } from "./objects.ts";

/** Puts referrers before the objects that they refer to, which cannot be deleted earlier. A cycle has no such order. */
export function referrersFirst(objects: readonly OwnObject[]): OwnObject[] {
  const byKey = new Map(objects.map((one) => [keyOf(one.resource.kind, one.ref.namespace, one.ref.name), one]));
  const targetsOf = (one: OwnObject) => referencesOf(one).flatMap((key) => byKey.get(key) ?? []);
  return sortedAfter(objects, targetsOf).reverse();
}

function referencesOf({ resource, object, ref }: OwnObject): string[] {
  return needsOf(resource.spec, object.spec).flatMap((need) => {
    if (need.type !== "reference" || need.to.name === undefined) return [];
    return [keyOf(need.to.kind ?? need.trait.kinds[0] ?? "", ref.namespace, need.to.name)];
  });
}

const keyOf = (kind: string, namespace: string | undefined, name: string): string => `${kind}/${namespace}/${name}`;
