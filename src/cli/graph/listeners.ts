import type { Remote } from "../../gateway/resource.ts";
import type { ManagedObject } from "../../objects/object.ts";
import type { Kind } from "../../schema/define.ts";
import { hostname } from "../../schema/hosts.ts";

/** A domain, or an edge that may listen at one. */
interface Node {
  kind: Kind;
  remote?: Remote;
  object?: ManagedObject;
  listensAt: Set<Node>;
  listeners: Set<Node>;
}

/** Whether remotes of a kind listen at addresses. */
export const isListener = ({ listensOn }: Kind): boolean => listensOn !== undefined;

/**
 * Connects edges with the domains at whose host they listen. A host belongs to the domain of the same name, or else to
 * the wildcard domain above it.
 */
export function connectListeners(nodes: readonly Node[]): void {
  const domains = Map.groupBy(
    nodes.filter((node) => hostOf(node) !== undefined),
    hostOf,
  );
  for (const node of nodes.filter(({ kind }) => isListener(kind))) {
    for (const host of hostsOf(node)) {
      const name = namesFor(host).find((one) => domains.has(one));
      for (const domain of domains.get(name) ?? []) {
        node.listensAt.add(domain);
        domain.listeners.add(node);
      }
    }
  }
}

/** The host of a domain. Undefined for an address with a port, since edges name that by a reference. */
function hostOf({ kind: { address }, remote, object }: Node): string | undefined {
  if (address === undefined) return undefined;
  const value = (remote as Record<string, unknown> | undefined)?.[address] ?? object?.status?.[address];
  const host = String(hostname(value ?? object?.spec[address] ?? ""));
  return host === "" || host.includes(":") ? undefined : host;
}

function hostsOf({ remote, object }: Node): string[] {
  const hostports = (remote as Record<string, unknown> | undefined)?.["hostports"] ?? object?.spec["hostports"];
  return Array.isArray(hostports) ? hostports.map((one) => String(hostname(String(one).replace(/:\d+$/, "")))) : [];
}

/** The names of domains that have this host. A wildcard stands for all names one level below it. */
const namesFor = (host: string): string[] => [host, host.replace(/^[^.]+/, "*")];
