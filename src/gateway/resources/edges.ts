import { defineModule, defineResource } from "../resource.ts";
import { answer, common, texts } from "../wire.ts";
import {
  backendModule,
  ipRestrictionModule,
  mutualTlsModule,
  tlsTerminationModule,
  trafficPolicyModule,
} from "./module-shapes.ts";

const edge = {
  ...common,
  hostports: texts,
  backend: backendModule.nullish(),
  ip_restriction: ipRestrictionModule.nullish(),
  policy: trafficPolicyModule.nullish(),
};

const tcpMembers = ["description", "metadata", "hostports", "backend", "ip_restriction", "policy"];
const tlsMembers = [...tcpMembers, "mutual_tls", "tls_termination"];

/** A PATCH replaces the modules that it has and leaves the others. It cannot remove a module. */
export const tcpEdges = defineResource({
  name: "tcp_edges",
  title: "TCP edge",
  path: "/edges/tcp",
  idPrefix: "edgtcp_",
  wire: answer(edge),
  create: tcpMembers,
  update: tcpMembers,
});

export const tlsEdges = defineResource({
  name: "tls_edges",
  title: "TLS edge",
  path: "/edges/tls",
  idPrefix: "edgtls_",
  wire: answer({ ...edge, mutual_tls: mutualTlsModule.nullish(), tls_termination: tlsTerminationModule.nullish() }),
  create: tlsMembers,
  update: [],
  updateUndocumented: tlsMembers,
  verbs: { update: "undocumented", delete: "undocumented" },
});

export const tcpEdgePolicy = defineModule({
  name: "tcp_edge_policy",
  title: "traffic policy of a TCP edge",
  path: "/edges/tcp/{id}/policy",
  wire: trafficPolicyModule,
  put: ["enabled", "inbound", "outbound"],
});
