import { expect, test } from "vitest";
import { IPPolicy } from "../kinds/ip-policy.ts";
import { TCPEdge } from "../kinds/tcp-edge.ts";
import { findNodes } from "./graph/find.ts";
import { graphOf } from "./graph/graph.ts";
import { object } from "./graph/testing/account.ts";
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
const told = (name: string) => findNodes(graph, name, undefined).flatMap((node) => causesOf(node));

test("causes are followed to the root, and what is Ready is no cause", () => {
  expect(told("db")).toEqual([
    "TCPEdge/db is not Ready: ReferenceNotReady",
    "  IPPolicy/office is not Ready: Unauthorized",
  ]);
  expect(told("web")).toEqual(["TCPEdge/web is not Ready: Forbidden"]);
  expect(told("good")).toEqual(["IPPolicy/good is Ready"]);
});
