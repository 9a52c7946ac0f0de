import { expect, test } from "vitest";
import { HTTPResponseBackend } from "../../kinds/http-response-backend.ts";
import { ReservedDomain } from "../../kinds/reserved-domain.ts";
import { TLSEdge } from "../../kinds/tls-edge.ts";
import { TunnelGroupBackend } from "../../kinds/tunnel-group-backend.ts";
import type { Kind } from "../../schema/define.ts";
import type { Node } from "../graph/graph.ts";
import { silentAmong } from "./silent.ts";

const node = (kind: Kind, id: string, remote: object = {}): Node => ({
  uses: new Set(),
  usedBy: new Set(),
  fields: new Map(),
  listensAt: new Set(),
  listeners: new Set(),
  kind,
  id,
  remote: { id, ...remote },
});

const domain = node(ReservedDomain, "domain");
const edge = node(TLSEdge, "edge");
const empty = node(TunnelGroupBackend, "empty", { tunnels: [] });
const used = node(TunnelGroupBackend, "used", { tunnels: [{ id: "tn_1" }] });
const unseen = node(TunnelGroupBackend, "unseen");
const response = node(HTTPResponseBackend, "response");

test.each<[string, Node[], boolean]>([
  ["a group without a tunnel", [empty], true],
  ["a group with a tunnel", [used], false],
  ["two groups, of which one has a tunnel", [empty, used], false],
  ["a group without a tunnel, and a response of the service", [empty, response], false],
  ["a group whose tunnels were not shown", [unseen], false],
  ["a group without a tunnel, and one whose tunnels were not shown", [empty, unseen], false],
  ["no group", [response], false],
])("a domain that leads to %s (%#)", (_, backends, isSilent) => {
  // a circle, which other people can make
  const below = (one: Node) => (one === domain ? [edge] : one === edge ? [...backends, domain] : []);
  const all = [domain, edge, ...backends];
  expect(silentAmong(all, below)).toEqual(isSilent ? [domain] : []);
});
