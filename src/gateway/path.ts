import { Unsent } from "./http/unsent.ts";

export type PathIds = Readonly<Record<string, string | undefined>>;

/**
 * Puts encoded ids into a template such as `/edges/https/{edge_id}/routes/{id}/oidc`. Throws Unsent for an id that
 * would address something else: with an empty one, `DELETE /things/{id}` would go to the whole collection, and proxies
 * resolve dots.
 */
export function expandPath(template: string, ids: PathIds): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => segment(name, ids[name]));
}

function segment(name: string, value: string | undefined): string {
  if (value === undefined || value.trim() === "") throw new Unsent(`${name} is empty`);
  if (value === "." || value === ".." || !value.isWellFormed()) throw new Unsent(`${name} is not an id`);
  return encodeURIComponent(value);
}
