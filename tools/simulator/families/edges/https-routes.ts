import { invalid, notFound } from "../../http/refusal.ts";
import type { Call, Route } from "../../http/route.ts";
import { defineCollection, type Row } from "../../resource/collection.ts";
import { rowOf } from "../../resource/crud.ts";
import { type Module, type ModuleVerb, moduleRoutes, showModules } from "../../resource/modules.ts";
import { isId } from "../../shape/references.ts";
import { ipRestriction } from "./edge-modules.ts";
import { oidc, saml, webhookVerification } from "./route-modules.ts";

const documented: ReadonlyMap<Module, readonly ModuleVerb[]> = new Map([
  [oidc, ["PUT", "GET", "DELETE"]],
  [saml, ["PUT", "GET"]],
  [ipRestriction, ["PUT", "GET", "DELETE"]],
  [webhookVerification, ["PUT", "GET", "DELETE"]],
]);

const modules = [...documented.keys()];

export const routeModuleNames: readonly string[] = modules.map(({ name }) => name);

/** The API cannot create, read or delete routes. It only has operations for their modules. */
export const httpsRoutes = defineCollection({
  name: "https_routes",
  prefix: "edghtsrt",
  listKey: "routes",
  verbs: {},
  fields: {},
  show: (members, links, id) => ({ edge_id: members.edge_id, ...showModules(modules)(members, links, id) }),
});

function find(call: Call): Row {
  const edge = call.params.edge_id ?? "";
  if (!isId("edghts", edge)) throw invalid(`edge_id: ${edge} is not a valid id`);
  const row = rowOf(httpsRoutes, call);
  if (row.members.edge_id !== edge) throw notFound(`${edge} has no route ${row.id}`);
  return row;
}

export const httpsRouteRoutes: readonly Route[] = modules.flatMap((module) =>
  moduleRoutes({ path: "/edges/https/{edge_id}/routes/{id}", find }, module, documented.get(module) ?? []),
);
