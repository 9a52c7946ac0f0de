import type { KubeObject, ResourceType } from "../../src/runtime/object.ts";
import { API_VERSION, GROUP, VERSION } from "../../src/schema/contract.ts";

const type = (kind: string, plural: string): ResourceType => ({ group: GROUP, version: VERSION, plural, kind });

/** One kind with a unique name in the service, and one whose remotes only have ids. */
export const types = [
  type("ReservedDomain", "reserveddomains"),
  type("TunnelGroupBackend", "tunnelgroupbackends"),
] as const;

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
export function subjects(count: number, namespace: string): Subject[] {
  return Array.from({ length: count }, (_, index) => {
    const chosen = types[index % types.length] as ResourceType;
    const name = `object-${String(index).padStart(5, "0")}`;
    const spec =
      chosen.kind === "ReservedDomain"
        ? { domain: `${name}.${namespace}.example.com`, description: `Domain of ${name}` }
        : { labels: { app: name, namespace }, description: `Backend of ${name}` };
    return {
      type: chosen,
      object: { apiVersion: API_VERSION, kind: chosen.kind, metadata: { namespace, name }, spec },
    };
  });
}
