import * as z from "zod";
import { ordered } from "../../schema/fields.ts";
import { traitsOf, unwrap } from "../../schema/traits.ts";
import { returnedAs } from "../../schema/wire/names.ts";
import type { Node } from "../graph/graph.ts";

/**
 * The nodes that a node uses in an order, each with its turn, as in `1.`, or in shares, as in `75 %`. In the order of the
 * spec, which is that of `uses`.
 */
export function placesOf(node: Node): Map<Node, string> {
  const places = new Map<Node, string>();
  for (const [field, schema] of Object.entries(node.kind.spec.shape) as [string, z.ZodType][]) {
    const used = [...node.uses].filter((one) => node.fields.get(one)?.has(field));
    const isOrdered = traitsOf(schema).normalize === ordered;
    const shares = hasWeights(schema) ? sharesOf(node, field, used) : new Map<Node, string>();
    for (const [index, one] of used.entries()) {
      const place = isOrdered ? `${index + 1}.` : shares.get(one);
      if (place) places.set(one, place);
    }
  }
  return places;
}

function hasWeights(schema: z.ZodType): boolean {
  const inner = unwrap(schema);
  return inner instanceof z.ZodArray && inner.element instanceof z.ZodObject && "weight" in inner.element.shape;
}

interface Share {
  backendRef: { kind?: string; name?: string; id?: string };
  weight: number;
}

function sharesOf({ kind, object, remote }: Node, field: string, used: readonly Node[]): Map<Node, string> {
  const wanted = object?.spec[field] as readonly Share[] | undefined;
  const member = returnedAs(field, kind.spec.shape[field] as z.ZodType);
  const known = (remote as Record<string, unknown> | undefined)?.[member] as Record<string, number> | null | undefined;
  const weightOf = (node: Node): number | undefined =>
    wanted ? wanted.find(({ backendRef }) => isMeant(backendRef, node))?.weight : known?.[node.id ?? ""];
  const weights = used.flatMap((node): [Node, number][] => {
    const weight = weightOf(node);
    return weight === undefined ? [] : [[node, weight]];
  });
  const all = weights.reduce((sum, [, weight]) => sum + weight, 0);
  return new Map(weights.map(([node, weight]) => [node, `${all === 0 ? 0 : Math.round((100 * weight) / all)} %`]));
}

const isMeant = ({ kind, name, id }: Share["backendRef"], node: Node): boolean =>
  id === undefined ? node.object?.metadata.name === name && node.kind.kind === kind : node.id === id;
