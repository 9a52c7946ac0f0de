import * as z from "zod";
import { tlsEdges } from "../gateway/resources/index.ts";
import { textColumn } from "../schema/columns.ts";
import { defineKind } from "../schema/define.ts";
import { mutualTLSModule } from "../schema/modules/mutual-tls.ts";
import { tlsTerminationModule } from "../schema/modules/tls-termination.ts";
import { trafficPolicyModule } from "../schema/modules/traffic-policy.ts";
import { text } from "../schema/status.ts";
import { edgeFields, listening } from "./tcp-edge.ts";

type Switched = { enabled?: boolean };
type Termination = Switched & { terminateAt?: string; minVersion?: string };

const isOn = (module?: Switched): boolean => module !== undefined && module.enabled !== false;

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
      holds: ({ tlsTermination }: { tlsTermination?: Termination }) =>
        tlsTermination?.terminateAt !== "upstream" || tlsTermination.minVersion === undefined,
    },
    {
      rule: "!has(self.mutualTls) || (has(self.mutualTls.enabled) && !self.mutualTls.enabled) || !has(self.tlsTermination) || (has(self.tlsTermination.enabled) && !self.tlsTermination.enabled) || !has(self.tlsTermination.terminateAt) || self.tlsTermination.terminateAt != 'upstream'",
      message:
        "must not be on where `tlsTermination.terminateAt` is upstream: the service does not end TLS then, and sees no certificate of a client",
      fieldPath: ".mutualTls",
      holds: ({ mutualTls, tlsTermination }: { mutualTls?: Switched; tlsTermination?: Termination }) =>
        !isOn(mutualTls) || !isOn(tlsTermination) || tlsTermination?.terminateAt !== "upstream",
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
