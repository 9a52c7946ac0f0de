import { graphOf } from "../../../src/cli/graph/graph.ts";
import { drawingOf } from "../../../src/cli/tree/drawing.ts";
import { forestOf } from "../../../src/cli/tree/forest.ts";
import { page, type Reply, text } from "../../../src/cli/ui/http/reply.ts";
import type { Site } from "../../../src/cli/ui/http/server.ts";
import { pictures } from "../../../src/cli/ui/pages/topology.ts";
import { itemsByKey } from "../../../src/cli/ui/topology/lanes.ts";
import { faceIn } from "../../../src/cli/ui/topology/svg.ts";
import { frame } from "../../../src/cli/ui/view/frame.ts";
import { script } from "../../../src/cli/ui/view/script.ts";
import { style } from "../../../src/cli/ui/view/style.ts";
import { IPPolicy } from "../../../src/kinds/ip-policy.ts";
import { ReservedAddress } from "../../../src/kinds/reserved-address.ts";
import { TCPEdge } from "../../../src/kinds/tcp-edge.ts";
import { TunnelGroupBackend } from "../../../src/kinds/tunnel-group-backend.ts";
import type { Kind } from "../../../src/schema/define.ts";

/** Remotes with this many boxes: each edge has an address, a policy, a backend and a tunnel of its own. */
function graphWith(boxes: number) {
  const numbers = Array.from({ length: Math.max(1, Math.round(boxes / 5)) }, (_, index) => index);
  const each = (kind: Kind, of: (index: number) => { id: string }): [Kind, { id: string }[]] => [kind, numbers.map(of)];
  const addr = (index: number) => `a.example:${index + 1}`;
  return graphOf(
    new Map([
      each(ReservedAddress, (index) => ({ id: `ra_${index}`, addr: addr(index) })),
      each(IPPolicy, (index) => ({ id: `ipp_${index}`, description: `Office ${index}` })),
      each(TunnelGroupBackend, (index) => ({ id: `bkdtg_${index}`, tunnels: [{ id: `tn_${index}` }] })),
      each(TCPEdge, (index) => ({
        id: `edgtcp_${index}`,
        hostports: [addr(index)],
        backend: { enabled: true, backend: { id: `bkdtg_${index}` } },
        ip_restriction: { enabled: true, ip_policies: [{ id: `ipp_${index}` }] },
      })),
    ]),
    new Map(),
  );
}

/** Serves the topology of so many boxes as the command `ui` draws it, all of them in one picture. */
export async function siteWith(boxes: number): Promise<Site> {
  const { items, arrows } = drawingOf(forestOf(graphWith(boxes)));
  const drawing = { items: itemsByKey(items), faceOf: faceIn(undefined), isDim: () => false };
  const body = page(frame({ path: "/topology", title: "Topology", body: await pictures(drawing, arrows) }));
  const files: Readonly<Record<string, Reply>> = {
    "/": body,
    "/style.css": { status: 200, type: "text/css", body: style },
    "/page.js": { status: 200, type: "text/javascript", body: script },
  };
  return {
    get: async ({ pathname }) => files[pathname] ?? text("There is no such page", 404),
    post: async () => text("There is no such page", 404),
    follow: ({ pathname }, response) => {
      if (pathname === "/events") response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
      return pathname === "/events";
    },
  };
}
