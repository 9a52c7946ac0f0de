import * as z from "zod";
import { tcpEdgePolicy, tcpEdges } from "../gateway/resources/index.ts";
import { textColumn } from "../schema/columns.ts";
import { defineKind } from "../schema/define.ts";
import { matching, refsTo, texts, unordered } from "../schema/fields.ts";
import { backendModule } from "../schema/modules/backend.ts";
import { ipRestrictionModule } from "../schema/modules/ip-restriction.ts";
import { trafficPolicyModule } from "../schema/modules/traffic-policy.ts";
import { countOfMore, firstOf } from "../schema/status.ts";
import { mark } from "../schema/traits.ts";

/** Normalizes addresses: order, case and duplicates are ignored. */
const hostports = (value: unknown): unknown =>
  unordered(Array.isArray(value) ? [...new Set(value.map((one) => String(one).toLowerCase()))] : value);

/** The fields of every edge. Both ways of naming an address end in one member, `hostports`. */
export const edgeFields = {
  ...texts,
  hostports: mark(
    z
      .array(
        matching(
          z.string().min(3).max(300),
          /^[^:]+:[0-9]{1,5}$/,
          "must be host:port, such as 1.tcp.eu.gateway.example:20117",
        ),
      )
      .max(64),
    { normalize: hostports },
  )
    .optional()
    .describe("Addresses to listen on, each host:port. Name ReservedAddress objects in `addressRefs` instead."),
  addressRefs: refsTo("ReservedAddress", {
    sends: "hostports",
    returns: "",
    statusField: "addr",
    // if the address is released, whoever reserves it next gets the traffic
    exposes: true,
    normalize: hostports,
  })
    .optional()
    .describe("Reserved addresses to listen on, beside `hostports`."),
  backend: backendModule,
  ipRestriction: ipRestrictionModule,
};

/** What the status of every edge shows of its addresses. */
export const listening = {
  hostports: firstOf("Addresses the edge listens on."),
  hostportCount: countOfMore("hostports", "How many addresses the edge listens on."),
};

export const TCPEdge = defineKind({
  kind: "TCPEdge",
  shortNames: ["gwtcp"],
  categories: ["tunnelgateway-edges"],
  summary: "Listens on reserved addresses and hands each TCP connection to a backend.",
  resource: tcpEdges,
  spec: z.object({ ...edgeFields, policy: trafficPolicyModule("delete") }),
  modules: { policy: tcpEdgePolicy },
  status: z.object(listening),
  columns: [textColumn("Hostports", { width: 40, value: ({ status }) => status["hostports"] })],
});
