import { kinds } from "../../src/kinds/index.ts";
import { needsOf } from "../../src/schema/wire/needs.ts";
import { type KubeJSON, nameOf } from "../../tools/shared/objects.ts";

/** The names of the objects that the spec of this one refers to, as `Kind/name`. */
function referencesOf({ kind, spec }: KubeJSON): string[] {
  const schema = kinds.find((one) => one.kind === kind)?.spec;
  if (!schema) return [];
  return needsOf(schema, spec).flatMap((need) =>
    need.type === "reference" && need.to.name ? [`${need.to.kind ?? need.trait.kinds[0]}/${need.to.name}`] : [],
  );
}

/** Groups objects in the order in which they can be deleted: no later group refers to objects of an earlier one. */
export function waves(objects: readonly KubeJSON[]): KubeJSON[][] {
  if (objects.length === 0) return [];
  const referred = new Set(objects.flatMap(referencesOf));
  const free = objects.filter((object) => !referred.has(nameOf(object)));
  if (free.length === 0) throw new Error(`These refer to each other: ${objects.map(nameOf).join(", ")}`);
  return [free, ...waves(objects.filter((object) => !free.includes(object)))];
}
