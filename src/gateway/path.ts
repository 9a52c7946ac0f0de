import { Unsent } from "./http/unsent.ts";
import type { Module, ModuleOwner } from "./resource.ts";

export type PathIds = Readonly<Record<string, string | undefined>>;

/**
 * Puts encoded ids into a template such as `/edges/https/{edge_id}/routes/{id}/oidc`. Throws Unsent for an id that
 * would address something else: with an empty one, `DELETE /things/{id}` would go to the whole collection, and proxies
 * resolve dots.
 */
export function expandPath(template: string, ids: PathIds): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => segment(name, ids[name]));
}

/** The owner of a module by its id, such as `edge/route`, which has one part for each parameter of the module's path. */
export function moduleOwnerOf({ path }: Pick<Module, "path">, id: string): ModuleOwner {
  const parts = id.split("/");
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  return Object.fromEntries(names.map((name, index) => [name, parts[index]])) as unknown as ModuleOwner;
}

function segment(name: string, value: string | undefined): string {
  if (value === undefined || value.trim() === "") throw new Unsent(`${name} is empty`);
  if (value === "." || value === ".." || !value.isWellFormed()) throw new Unsent(`${name} is not an id`);
  return encodeURIComponent(value);
}
