import { expect, test } from "vitest";
import { object } from "../../../test/fakes/cli/graph.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import type { Node } from "../graph/graph.ts";
import { troublesOf } from "./troubles.ts";

const fresh = {
  uses: new Set<Node>(),
  usedBy: new Set<Node>(),
  fields: new Map(),
  listensAt: new Set<Node>(),
  listeners: new Set<Node>(),
};

/** Nodes by what their conditions say: Ready, waiting, one that needs a person, or one that nobody has looked at. */
const nodeOf = (name: string, says: "Ready" | "waits" | "needs" | "unseen"): [string, Node] => {
  const made = object(IPPolicy, name, says === "Ready" ? {} : { reason: "Refused" });
  const ready = made.status?.conditions ?? [];
  const stalled = { type: "Stalled", status: "True", reason: "", message: "", lastTransitionTime: "" } as const;
  const conditions = says === "unseen" ? [] : [...ready, ...(says === "needs" ? [stalled] : [])];
  return [name, { ...fresh, kind: IPPolicy, object: { ...made, status: { conditions } } }];
};

const deleted = ([name, node]: [string, Node]): [string, Node] => {
  if (node.object) node.object.metadata.deletionTimestamp = "2026-01-01T00:00:00Z";
  return [name, node];
};

function troubles(
  nodes: readonly [string, Node][],
  arrows: Readonly<Record<string, string[]>>,
): Record<string, string> {
  const all = new Map(nodes);
  const nameOf = (node: Node) => node.object?.metadata.name ?? "";
  const below = (node: Node) => (arrows[nameOf(node)] ?? []).flatMap((name) => all.get(name) ?? []);
  return Object.fromEntries([...troublesOf([...all.values()], below)].map((pair) => pair.map(nameOf)));
}

test.each<[string, [string, Node][], Record<string, string[]>, Record<string, string>]>([
  [
    "what waits is told by all above it that are Ready",
    [nodeOf("domain", "Ready"), nodeOf("edge", "Ready"), nodeOf("backend", "waits")],
    { domain: ["edge"], edge: ["backend"] },
    { domain: "backend", edge: "backend" },
  ],
  [
    "what needs a person comes before what waits and is nearer",
    [nodeOf("domain", "Ready"), nodeOf("edge", "Ready"), nodeOf("near", "waits"), nodeOf("far", "needs")],
    { domain: ["near", "edge"], edge: ["far"] },
    { domain: "far", edge: "far" },
  ],
  [
    "of two that wait, the nearer one is told",
    [nodeOf("domain", "Ready"), nodeOf("edge", "Ready"), nodeOf("far", "waits"), nodeOf("near", "waits")],
    { domain: ["edge", "near"], edge: ["far"] },
    { domain: "near", edge: "far" },
  ],
  [
    "one that is not Ready says so itself, and what is above it tells of it or of worse",
    [nodeOf("domain", "Ready"), nodeOf("edge", "waits"), nodeOf("backend", "needs")],
    { domain: ["edge"], edge: ["backend"] },
    { domain: "backend" },
  ],
  [
    "what waits for its deletion is no trouble to those that use it",
    [nodeOf("edge", "Ready"), deleted(nodeOf("policy", "waits"))],
    { edge: ["policy"] },
    {},
  ],
  [
    "what nobody has looked at is no trouble, nor is what is above",
    [nodeOf("edge", "Ready"), nodeOf("backend", "unseen"), nodeOf("domain", "waits")],
    { domain: ["edge"], edge: ["backend"] },
    {},
  ],
  ["a circle ends", [nodeOf("a", "Ready"), nodeOf("b", "waits")], { a: ["b"], b: ["a"] }, { a: "b" }],
])("%s", (_, nodes, arrows, expected) => {
  expect(troubles(nodes, arrows)).toEqual(expected);
});
