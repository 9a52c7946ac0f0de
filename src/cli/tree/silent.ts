import { HTTPResponseBackend } from "../../kinds/http-response-backend.ts";
import { TunnelGroupBackend } from "../../kinds/tunnel-group-backend.ts";
import type { Node } from "../graph/graph.ts";
import { reachedFrom } from "../graph/reached.ts";
import { tunnelsOf } from "./items.ts";

/**
 * The domains and addresses below which nobody answers: there are groups of tunnels without a tunnel, and no response that
 * the service gives itself. What the account did not show says nothing. `below`: what a node leads to.
 */
export const silentAmong = (nodes: readonly Node[], below: (node: Node) => readonly Node[]): Node[] =>
  nodes.filter((node) => {
    if (node.kind.address === undefined) return false;
    const all = [...reachedFrom([node], below)];
    const groups = all.filter(({ kind }) => kind === TunnelGroupBackend);
    const isEmpty = (group: Node): boolean => tunnelsOf(group)?.length === 0;
    return groups.length > 0 && groups.every(isEmpty) && !all.some(({ kind }) => kind === HTTPResponseBackend);
  });
