import { graphOf } from "../../../src/cli/graph/graph.ts";
import { IPPolicy } from "../../../src/kinds/ip-policy.ts";
import { ReservedAddress } from "../../../src/kinds/reserved-address.ts";
import { TCPEdge } from "../../../src/kinds/tcp-edge.ts";
import { TunnelGroupBackend } from "../../../src/kinds/tunnel-group-backend.ts";
import type { ManagedObject } from "../../../src/objects/object.ts";
import { OWNER_KEY } from "../../../src/schema/contract.ts";
import type { Kind } from "../../../src/schema/define.ts";

interface Given {
  id?: string;
  reason?: string;
  spec?: Record<string, unknown>;
}

/** An object; without a reason it is Ready. */
export function object(kind: Kind, name: string, { id, reason, spec = {} }: Given): ManagedObject {
  const ready = {
    type: "Ready",
    status: reason ? "False" : "True",
    reason: reason ?? "Available",
    message: "",
  } as const;
  return {
    apiVersion: "tunnelgateway.dev/v1",
    kind: kind.kind,
    metadata: { namespace: "team", name, uid: `uid-of-${name}`, generation: 1 },
    spec,
    status: { ...(id !== undefined && { id }), conditions: [{ ...ready, lastTransitionTime: "" }] },
  };
}

const marked = (name: string): string => JSON.stringify({ [OWNER_KEY]: `c1/team/${name}` });

/**
 * An edge with its address, policy and backend; a policy that was left behind, an unmanaged one, and an object without
 * remote.
 */
export const small = () =>
  graphOf(
    new Map([
      [IPPolicy, [{ id: "ipp_1" }, { id: "ipp_left", metadata: marked("gone") }, { id: "ipp_nobody" }]],
      [ReservedAddress, [{ id: "ra_1", addr: "a.example:7" }]],
      [TunnelGroupBackend, [{ id: "bkdtg_1" }]],
      [
        TCPEdge,
        [
          {
            id: "edgtcp_1",
            hostports: ["a.example:7"],
            backend: { enabled: true, backend: { id: "bkdtg_1" } },
            ip_restriction: { enabled: true, ip_policies: [{ id: "ipp_1" }] },
          },
        ],
      ],
    ] as [Kind, { id: string }[]][]),
    new Map<Kind, ManagedObject[]>([
      [IPPolicy, [object(IPPolicy, "office", { id: "ipp_1" }), object(IPPolicy, "lost", { id: "ipp_lost" })]],
      [ReservedAddress, [object(ReservedAddress, "ssh", { id: "ra_1" })]],
      [
        TCPEdge,
        [
          object(TCPEdge, "ssh", { id: "edgtcp_1", reason: "Forbidden" }),
          object(TCPEdge, "later", {
            reason: "ReferenceNotReady",
            spec: { ipRestriction: { ipPolicyRefs: [{ name: "office" }] } },
          }),
        ],
      ],
    ]),
  );
