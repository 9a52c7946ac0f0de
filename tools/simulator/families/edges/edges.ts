import { invalid } from "../../http/refusal.ts";
import type { Route } from "../../http/route.ts";
import { type Collection, defineCollection, type Links } from "../../resource/collection.ts";
import { rowOf } from "../../resource/crud.ts";
import { type Module, type ModuleVerb, moduleFields, moduleRoutes, showModules } from "../../resource/modules.ts";
import type { Members } from "../../shape/members.ts";
import { hostport } from "../../shape/names.ts";
import { list } from "../../shape/scalars.ts";
import { texts } from "../../shape/texts.ts";
import { backend, ipRestriction, mutualTls, policy, tlsTermination, usedByModules } from "./edge-modules.ts";

const tcpModules = [backend, ipRestriction, policy];
const tlsModules = [...tcpModules, mutualTls, tlsTermination];

const edgeFields = (modules: readonly Module[]) => ({
  ...texts,
  hostports: { check: list(hostport), initial: [] },
  ...moduleFields(modules),
});

const showEdge = (modules: readonly Module[]) => (members: Members, links: Links, id: string) => ({
  hostports: (members.hostports as string[]).length > 0 ? members.hostports : null,
  ...showModules(modules)(members, links, id),
});

export const tcpEdges = defineCollection({
  name: "edges/tcp",
  prefix: "edgtcp",
  listKey: "tcp_edges",
  unset: ["missing", "empty"],
  fields: edgeFields(tcpModules),
  uses: usedByModules,
  show: showEdge(tcpModules),
});

export const tlsEdges = defineCollection({
  name: "edges/tls",
  prefix: "edgtls",
  listKey: "tls_edges",
  verbs: {
    create: "documented",
    get: "documented",
    list: "documented",
    update: "undocumented",
    delete: "undocumented",
  },
  unset: ["null", "missing"],
  nextPage: "path",
  fields: edgeFields(tlsModules),
  rule(_, { mutual_tls: mutual, tls_termination: termination }) {
    const upstream = (termination as Members | null)?.terminate_at === "upstream";
    if (upstream && mutual) throw invalid("mutual_tls: not allowed when TLS is terminated upstream");
  },
  uses: usedByModules,
  show: showEdge(tlsModules),
});

const routesOf = (collection: Collection, module: Module, documented: readonly ModuleVerb[]): Route[] =>
  moduleRoutes({ path: `/${collection.name}/{id}`, find: (call) => rowOf(collection, call) }, module, documented);

export const edgeModuleRoutes: readonly Route[] = [
  ...tcpModules.flatMap((module) => routesOf(tcpEdges, module, module === policy ? ["PUT", "GET", "DELETE"] : [])),
  ...tlsModules.flatMap((module) => routesOf(tlsEdges, module, [])),
];
