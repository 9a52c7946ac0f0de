import { needsOf } from "../schema/wire/needs.ts";
import type { Owned } from "./objects.ts";

/** Referrers before what they refer to, so that nothing has to wait longer than it must; in a circle, as they come. */
export function referrersFirst(objects: readonly Owned[]): Owned[] {
  const byKey = new Map(objects.map((one) => [keyOf(one.resource.kind, one.ref.namespace, one.ref.name), one]));
  const done = new Set<Owned>();
  const backwards: Owned[] = [];
  // what an object refers to comes before it, and all of it is turned around in the end
  const visit = (one: Owned): void => {
    if (done.has(one)) return;
    done.add(one);
    for (const target of referencesOf(one)) {
      const found = byKey.get(target);
      if (found) visit(found);
    }
    backwards.push(one);
  };
  for (const one of objects) visit(one);
  return backwards.reverse();
}

function referencesOf({ resource, object, ref }: Owned): string[] {
  return needsOf(resource.spec, object.spec).flatMap((need) => {
    if (need.sort !== "reference" || need.to.name === undefined) return [];
    return [keyOf(need.to.kind ?? need.trait.kinds[0] ?? "", ref.namespace, need.to.name)];
  });
}

const keyOf = (kind: string, namespace: string | undefined, name: string): string => `${kind}/${namespace}/${name}`;
