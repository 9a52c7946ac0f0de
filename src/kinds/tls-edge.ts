import * as z from "zod";
import { tlsEdges } from "../gateway/resources/index.ts";
import { textColumn } from "../schema/columns.ts";
import { defineKind } from "../schema/define.ts";
import { mutualTLSModule } from "../schema/modules/mutual-tls.ts";
import { tlsTerminationModule } from "../schema/modules/tls-termination.ts";
import { trafficPolicyModule } from "../schema/modules/traffic-policy.ts";
import { text } from "../schema/status.ts";
import { edgeFields, listening } from "./tcp-edge.ts";

export const TLSEdge = defineKind({
  kind: "TLSEdge",
  shortNames: ["gwtls"],
  categories: ["tunnelgateway-edges"],
  summary: "Listens on addresses, each host:port, and hands each TLS connection to a backend.",
  resource: tlsEdges,
  listensOn: "hostports",
  spec: z.object({
    ...edgeFields,
    // the service can switch the policy of a TLS edge off, but not delete it
    policy: trafficPolicyModule("disable"),
    mutualTls: mutualTLSModule,
    tlsTermination: tlsTerminationModule,
  }),
  rules: [
    {
      rule: "!has(self.tlsTermination) || !has(self.tlsTermination.terminateAt) || self.tlsTermination.terminateAt != 'upstream' || !has(self.tlsTermination.minVersion)",
      message: "must not set `minVersion` where `terminateAt` is upstream: the service does not end TLS then",
      fieldPath: ".tlsTermination.minVersion",
      holds: ({ tlsTermination }: { tlsTermination?: { terminateAt?: string; minVersion?: string } }) =>
        tlsTermination?.terminateAt !== "upstream" || tlsTermination.minVersion === undefined,
    },
  ],
  status: z.object({
    ...listening,
    tlsTermination: z
      .object({ terminateAt: text("`edge` or `upstream`."), minVersion: text("Lowest TLS version.") })
      .optional()
      .describe("Where TLS ends, with what the service chose."),
  }),
  columns: [textColumn("Hostports", { width: 40, value: ({ status }) => status["hostports"] })],
});
