import type { Module, Resource } from "../gateway/resource.ts";
import { type Kind, listOf } from "../schema/define.ts";
import { listedID, managedMembers } from "./identity.ts";
import type { ManagedObject } from "./object.ts";

/** Where the service shows a remote: in the list of a resource or, if no list shows it, by a module of it. */
export type Source = Resource | Module;

export const hasList = (source: Source): source is Resource => "listKey" in source;

/**
 * Where the service shows the remote that an object has recorded, and under which id. Empty: nothing shows it, or the
 * object has recorded none.
 */
export function evidenceOf(kind: Kind, object: ManagedObject): (readonly [Source, string])[] {
  const id = object.status?.id;
  if (id === undefined) return [];
  const resource = listOf(kind);
  if (resource) return [[resource, listedID(kind, id)]];
  const modules = managedMembers(kind, object).flatMap((member) => kind.modules[member] ?? []);
  return modules.map((module) => [module, id]);
}
