import { expect, test } from "vitest";
import { object } from "../../../test/fakes/cli/graph.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import { TCPEdge } from "../../kinds/tcp-edge.ts";
import { TLSCertificate } from "../../kinds/tls-certificate.ts";
import { findNodes } from "../graph/find.ts";
import { graphOf } from "../graph/graph.ts";
import { wantedBy } from "../graph/named.ts";
import { causesOf } from "./why.ts";

const refersTo = (name: string) => ({ ipRestriction: { ipPolicyRefs: [{ name }] } });
const graph = graphOf(
  new Map(),
  new Map([
    [IPPolicy, [object(IPPolicy, "office", { reason: "Unauthorized" }), object(IPPolicy, "good", { id: "ipp_1" })]],
    [
      TCPEdge,
      [
        object(TCPEdge, "db", { reason: "ReferenceNotReady", spec: refersTo("office") }),
        object(TCPEdge, "web", { reason: "Forbidden", spec: refersTo("good") }),
      ],
    ],
  ]),
);
const changed = "when the object or what it refers to changes, else by itself in about an hour at the latest";
const reported = (name: string) =>
  findNodes(graph, wantedBy([name]), { namespace: "team", isAll: false }, []).flatMap((node) => causesOf(node));

test("causes are followed to the root, and a Ready object is no cause", () => {
  expect(reported("db")).toEqual([
    "TCPEdge/db is not Ready: ReferenceNotReady",
    "  IPPolicy/office is not Ready: Unauthorized",
    `    The operator looks again ${changed}`,
  ]);
  expect(reported("web")).toEqual(["TCPEdge/web is not Ready: Forbidden", `  The operator looks again ${changed}`]);
  expect(reported("good")).toEqual(["IPPolicy/good is Ready"]);
});

test("for a missing object the command that creates it is shown", () => {
  const shop = object(TLSCertificate, "shop", { reason: "SecretNotReady", spec: { secretName: "shop-tls" } });
  const message = 'Create Secret "shop-tls" in this namespace: spec.secretName refers to it';
  const conditions = shop.status?.conditions?.map((condition) => ({ ...condition, message })) ?? [];
  const { nodes } = graphOf(new Map(), new Map([[TLSCertificate, [{ ...shop, status: { conditions } }]]]));
  expect(nodes.flatMap((node) => causesOf(node))).toEqual([
    "TLSCertificate/shop is not Ready: SecretNotReady",
    `  ${message}`,
    "  Create it with: kubectl create secret tls shop-tls -n team --cert=FILE --key=FILE",
    "  The operator looks again within a minute after the Secret is as the message says",
  ]);
});
