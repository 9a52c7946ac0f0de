import type { Kind } from "../schema/define.ts";
import { needsOf } from "../schema/wire/needs.ts";
import type { ManagedObject } from "./object.ts";

/** Where the objects of a cluster are looked up. */
export interface KnownObjects {
  readonly kinds: readonly Kind[];
  get(kind: string, namespace: string, name: string): ManagedObject | undefined;
}

/** How many objects of a cycle a message names. */
const MOST_NAMED = 6;

/**
 * The shortest way from an object over references that cannot be sent yet, back to the object: each of these objects
 * waits for the next, so none is ever created. The object is first. Undefined if there is no such way. An object that
 * has a remote ends the way, since its id can be sent.
 */
export function referenceCycle(object: ManagedObject, known: KnownObjects): ManagedObject[] | undefined {
  const steps = new Map<string, Step>([[nameOf(object), { object, from: undefined }]]);
  // Iterating over a map also visits members that are added meanwhile.
  for (const step of steps.values()) {
    for (const target of awaitedBy(step.object, known)) {
      if (nameOf(target) === nameOf(object)) return wayTo(step);
      if (!steps.has(nameOf(target))) steps.set(nameOf(target), { object: target, from: step });
    }
  }
  return undefined;
}

interface Step {
  object: ManagedObject;
  /** The step that reached this object. */
  from: Step | undefined;
}

/** References lead to objects of the same namespace. */
const nameOf = ({ kind, metadata: { name } }: ManagedObject): string => `${kind} ${name}`;

function wayTo(last: Step): ManagedObject[] {
  const way: ManagedObject[] = [];
  for (let step: Step | undefined = last; step; step = step.from) way.push(step.object);
  return way.reverse();
}

/** The objects that have no value yet for a reference of this one. */
function awaitedBy({ kind: name, metadata, spec }: ManagedObject, known: KnownObjects): ManagedObject[] {
  const kind = known.kinds.find((one) => one.kind === name);
  if (!kind) return [];
  return needsOf(kind.spec, spec).flatMap((need) => {
    if (need.type !== "reference" || need.to.name === undefined) return [];
    const target = known.get(need.to.kind ?? need.trait.kinds[0] ?? "", metadata.namespace, need.to.name);
    return target && isAwaited(target, need.trait.statusField) ? [target] : [];
  });
}

const isAwaited = ({ status }: ManagedObject, field: string): boolean =>
  status?.[field] === undefined || status[field] === "";

/** `IPPolicy a -> IPPolicy b -> IPPolicy a`; a long cycle is shortened. */
export function textOfCycle(cycle: readonly ManagedObject[]): string {
  const names = [...cycle, ...cycle.slice(0, 1)].map(nameOf);
  if (cycle.length <= MOST_NAMED) return names.join(" -> ");
  return [...names.slice(0, MOST_NAMED), `${cycle.length - MOST_NAMED} more`, names.at(-1)].join(" -> ");
}
