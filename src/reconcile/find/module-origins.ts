import type { Remote } from "../../gateway/resource.ts";
import type { ManagedObject } from "../../objects/object.ts";
import type { Origin } from "../../objects/origin.ts";
import { isUnset, membersOf } from "../../schema/wire/compare.ts";
import { isSwitchedOff } from "../../schema/wire/uses.ts";
import type { ModulesContext } from "../features.ts";

// For a remote that other clients create, each module has an origin: this object has set it first, or has adopted an
// existing one. That is visible only before the object sets the module, so it is recorded together with
// `appliedFields`.

interface SetModule {
  /** Field of the spec. */
  field: string;
  /** Member of the answer. */
  member: string;
}

/** The modules that a spec sets on a remote that other clients create: one item for each field. */
export function modulesSetBy({ spec: schema }: ModulesContext["kind"], { spec }: ManagedObject): SetModule[] {
  return [...membersOf(schema)]
    .flatMap(([member, { fields }]) => fields.map((field) => ({ field, member })))
    .filter(({ field }) => spec[field] !== undefined);
}

/** The modules that this object has not set before. */
function newModules({ kind, object }: Pick<ModulesContext, "kind" | "object">): SetModule[] {
  const { moduleOrigins = {} } = object.status ?? {};
  return modulesSetBy(kind, object).filter(({ field }) => moduleOrigins[field] === undefined);
}

/** Members that have to be read before the object sets them for the first time. */
export const membersToRead = (context: ModulesContext, id: string): string[] =>
  newModules(context)
    .filter(({ field }) => !context.memory.isLeftModule(id, field))
    .map(({ member }) => member);

/**
 * Records the origin of each module that the object sets for the first time: Adopted if the remote has it, else Created.
 * What another object has left there counts as created. Call it when the members of `membersToRead` were read, before
 * anything is sent.
 */
export function noteModuleOrigins(context: ModulesContext, remote: Remote): void {
  const { object, state, memory } = context;
  const { moduleOrigins: known = {} } = object.status ?? {};
  memory.forgetLeftModules(remote.id, Object.keys(known));
  const found = newModules(context).map(({ field, member }): [string, Origin] => {
    const wasThere = !isUnset(remote[member]) && !isSwitchedOff(remote[member]);
    return [field, wasThere && !memory.isLeftModule(remote.id, field) ? "Adopted" : "Created"];
  });
  state.next.moduleOrigins = { ...known, ...Object.fromEntries(found) };
}

/** Call it when the remote has no modules of this object except those of its spec, and these that could not be removed. */
export function forgetDroppedModules({ kind, object, state }: ModulesContext, left: readonly string[]): void {
  if (!state.next.moduleOrigins) return;
  const set = modulesSetBy(kind, object).map(({ field }) => field);
  state.next.moduleOrigins = Object.fromEntries(
    Object.entries(state.next.moduleOrigins).filter(([field]) => set.includes(field) || left.includes(field)),
  );
}
