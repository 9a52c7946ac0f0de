import { expect, test } from "vitest";
import { object } from "../../../test/fakes/cli/graph.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import { ReservedDomain } from "../../kinds/reserved-domain.ts";
import { TCPEdge } from "../../kinds/tcp-edge.ts";
import { TLSCertificate } from "../../kinds/tls-certificate.ts";
import { TLSEdge } from "../../kinds/tls-edge.ts";
import { findNodes } from "../graph/find.ts";
import { graphOf } from "../graph/graph.ts";
import { wantedBy } from "../graph/named.ts";
import { troublesIn } from "../tree/forest.ts";
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
  expect(reported("good")).toEqual(["IPPolicy/good is Ready", "  In the account: ipp_1"]);
});

test("a Ready domain leads to what keeps the edge at its host from being Ready", () => {
  const domain = object(ReservedDomain, "shop", { id: "rd_1", spec: { domain: "shop.example.com" } });
  const spec = { hostports: ["shop.example.com:443"], ...refersTo("office") };
  const edge = object(TLSEdge, "shop", { reason: "ReferenceNotReady", spec });
  const policy = object(IPPolicy, "office", { reason: "Unauthorized" });
  const objects = new Map([
    [ReservedDomain, [domain]],
    [TLSEdge, [edge]],
    [IPPolicy, [policy]],
  ]);
  const known = graphOf(new Map(), objects);
  const [found] = findNodes(known, wantedBy(["reserveddomain/shop"]), { namespace: "team", isAll: false }, []);
  expect(found && causesOf(found, { troubles: troublesIn(known) })).toEqual([
    "ReservedDomain/shop is Ready, but leads to something that is not",
    "  In the account: rd_1, shop.example.com",
    "  TLSEdge/shop is not Ready: ReferenceNotReady",
    "    IPPolicy/office is not Ready: Unauthorized",
    `      The operator looks again ${changed}`,
  ]);
});

test("a Ready object says what it is in the account, and whether it manages that", () => {
  const edge = object(TCPEdge, "db", { id: "edgtcp_1" });
  const observer = object(TCPEdge, "seen", { id: "edgtcp_2", spec: { managementPolicy: "ObserveOnly" } });
  const reached = { ...edge, status: { ...edge.status, hostports: ["one.example.com:1", "two.example.com:2"] } };
  const { nodes } = graphOf(new Map(), new Map([[TCPEdge, [reached, observer]]]));
  expect(nodes.flatMap((node) => causesOf(node))).toEqual([
    "TCPEdge/db is Ready",
    "  In the account: edgtcp_1, one.example.com:1, two.example.com:2",
    "TCPEdge/seen is Ready",
    "  In the account: edgtcp_2. This object only observes it: it does not manage it",
  ]);
});

test("a Ready object that differs from the account says so first", () => {
  const edge = object(TCPEdge, "db", { id: "edgtcp_1" });
  const drifted = {
    type: "Drifted",
    status: "True",
    reason: "RemoteDiffers",
    message: "Put it right",
    lastTransitionTime: "",
  } as const;
  const conditions = [...(edge.status?.conditions ?? []), drifted];
  const { nodes } = graphOf(new Map(), new Map([[TCPEdge, [{ ...edge, status: { ...edge.status, conditions } }]]]));
  expect(nodes.flatMap((node) => causesOf(node))).toEqual([
    "TCPEdge/db is Ready",
    "  In the account: edgtcp_1",
    "  Differs from the account: Put it right",
  ]);
});

test("where a message has no room for all users, the command that lists them is shown", () => {
  const office = object(IPPolicy, "office", { reason: "InUse" });
  const users = (text: string, program?: string) => {
    const message = `Delete or change ${text} first: they use this IPPolicy`;
    const conditions = office.status?.conditions?.map((condition) => ({ ...condition, message })) ?? [];
    const { nodes } = graphOf(new Map(), new Map([[IPPolicy, [{ ...office, status: { conditions } }]]]));
    return nodes.flatMap((node) => causesOf(node, { program })).filter((line) => line.includes("See all"));
  };
  expect(users('TCPEdge "a", TCPEdge "b", TCPEdge "c" and 2 more')).toEqual([
    "  See all of them with: kubectl tunnelgateway users ippolicy/office -n team",
  ]);
  expect(users('TCPEdge "a" and 2 more', "tunnel-gateway-operator").join()).toContain(
    ": tunnel-gateway-operator users ",
  );
  expect(users('TCPEdge "a"')).toEqual([]);
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
