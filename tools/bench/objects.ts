import type { KubeObject, ResourceType } from "../../src/runtime/object.ts";
import { GROUP, VERSION } from "../../src/schema/contract.ts";

const type = (kind: string, group = GROUP): ResourceType => ({
  group,
  version: VERSION,
  kind,
  plural: `${kind.toLowerCase()}s`,
});

/** One kind with a unique name in the service, and one whose remotes only have ids. */
export type Types = readonly [named: ResourceType, others: ResourceType];

export const types: Types = [type("ReservedDomain"), type("TunnelGroupBackend")];

const PEER_GROUP = "peer.tunnelgateway.dev";

/** Their names are not those of this project: kubectl would take the first of two kinds that have one name. */
export const peerTypes: Types = [type("PeerDomain", PEER_GROUP), type("PeerTunnelGroup", PEER_GROUP)];

const CROSSPLANE_GROUP = "crossplane.tunnelgateway.dev";

export const crossplaneTypes: Types = [
  type("CrossplaneDomain", CROSSPLANE_GROUP),
  type("CrossplaneTunnelGroup", CROSSPLANE_GROUP),
];

/** The path of the remotes in the service, by the plural of the type. */
export const collections: Readonly<Record<string, string>> = {
  reserveddomains: "/reserved_domains",
  tunnelgroupbackends: "/backends/tunnel_group",
};

export interface Subject {
  type: ResourceType;
  object: KubeObject;
}

/** Objects of both types in turn. The names of their remotes contain the namespace. */
export function subjects(count: number, namespace: string, of = types): Subject[] {
  const [named] = of;
  return Array.from({ length: count }, (_, index) => {
    const chosen = of[index % of.length] as ResourceType;
    const name = `object-${String(index).padStart(5, "0")}`;
    const spec =
      chosen === named
        ? { domain: `${name}.${namespace}.example.com`, description: `Domain of ${name}` }
        : { labels: { app: name, namespace }, description: `Backend of ${name}` };
    return {
      type: chosen,
      object: { apiVersion: `${chosen.group}/${VERSION}`, kind: chosen.kind, metadata: { namespace, name }, spec },
    };
  });
}
