import { expect, test } from "vitest";
import { small } from "../../../test/fakes/cli/graph.ts";
import { ReservedDomain } from "../../kinds/reserved-domain.ts";
import { TCPEdge } from "../../kinds/tcp-edge.ts";
import { TLSCertificate } from "../../kinds/tls-certificate.ts";
import type { Kind } from "../../schema/define.ts";
import { leftovers, withoutRemote } from "../orphans/orphans.ts";
import { findNodes } from "./find.ts";
import { graphOf, usersOf } from "./graph.ts";
import { wantedBy } from "./named.ts";
import { keyOf } from "./output.ts";

const graph = small();
const everywhere = { namespace: "team", isAll: true };
const one = (text: string) => {
  const [node] = findNodes(graph, wantedBy([text]), everywhere, []);
  if (!node) throw new Error(text);
  return node;
};
const keys = (nodes: Iterable<Parameters<typeof keyOf>[0]>) => [...nodes].map(keyOf).sort();

test("an edge uses its address, backend and policy, as the account shows them", () => {
  expect(keys(one("tcpedge/ssh").uses)).toEqual([
    "IPPolicy/team/office",
    "ReservedAddress/team/ssh",
    "TunnelGroupBackend/bkdtg_1",
  ]);
});

test("an object without a remote uses what its spec names", () => {
  expect(keys(one("ipp_1").usedBy)).toEqual(["TCPEdge/team/later", "TCPEdge/team/ssh"]);
});

test("remotes without an object, unmanaged remotes, and objects whose remote is gone are found", () => {
  const found = (clusterID: string, isUnmanaged: boolean) =>
    keys(leftovers({ graph, clusterID, objects: new Map() }, isUnmanaged));
  expect(found("c1", false)).toEqual(["IPPolicy/ipp_left"]);
  expect(found("c2", false)).toEqual([]);
  expect(found("c1", true)).toEqual(["IPPolicy/ipp_left", "IPPolicy/ipp_nobody", "TunnelGroupBackend/bkdtg_1"]);
  expect(keys(withoutRemote(graph))).toEqual(["IPPolicy/team/lost"]);
});

test("a certificate that the service has issued is nobody's orphan, and one that was uploaded is", () => {
  const certificates = [
    { id: "cert_issued", issued_at: "2026-01-01T00:00:00Z" },
    { id: "cert_uploaded", issued_at: null },
  ];
  const ofCertificates = graphOf(new Map([[TLSCertificate, certificates]]), new Map());
  const found = leftovers({ graph: ofCertificates, clusterID: "c1", objects: new Map() }, true);
  expect(keys(found)).toEqual(["TLSCertificate/cert_uploaded"]);
});

test("after a list that failed, no remote counts as gone", () => {
  expect(withoutRemote({ ...graph, listed: new Set() })).toEqual([]);
});

test("a name can match objects of several kinds", () => {
  const found = (namespace: string) => findNodes(graph, wantedBy(["ssh"]), { namespace, isAll: false }, []);
  expect(found("team")).toHaveLength(2);
  expect(() => found("other")).toThrow('There is no object "ssh" in namespace other: it is in team, see -n');
});

test("an edge that listens at a domain uses it", () => {
  const { nodes } = graphOf(
    new Map<Kind, ({ id: string } & Record<string, unknown>)[]>([
      [ReservedDomain, [{ id: "rd_1", domain: "shop.example" }]],
      [TCPEdge, [{ id: "edgtcp_1", hostports: ["shop.example:443"] }]],
    ]),
    new Map(),
  );
  const [domain] = nodes;
  expect(domain && keys(usersOf(domain))).toEqual(["TCPEdge/edgtcp_1"]);
  // Nothing waits for the domain, and its deletion waits for nothing.
  expect(domain?.usedBy.size).toBe(0);
});
