import { expect, test } from "vitest";
import { small } from "./graph/testing/account.ts";
import type { Terminal } from "./terminal.ts";
import { render, rootsOf, usedOf } from "./tree.ts";

const graph = small();
const forest = { roots: rootsOf(graph, usedOf), below: usedOf };
const inPipe: Terminal = { say: () => {}, warn: () => {} };

test("in a pipe no line is cut, and there are no colours", () => {
  expect(render(forest, undefined, inPipe)).toMatchInlineSnapshot(`
    "NAME                       NAMESPACE   READY   REASON              ID
    IPPolicy                                       (no object)         ipp_left
    IPPolicy                                       (no object)         ipp_nobody
    IPPolicy/lost              team        True    Available           ipp_lost
    ReservedAddress/ssh        team        True    Available           ra_1
    └─ TCPEdge/ssh             team        False   Forbidden           edgtcp_1
       ├─ IPPolicy/office      team        True    Available           ipp_1
       └─ TunnelGroupBackend                       (no object)         bkdtg_1
    TCPEdge/later              team        False   ReferenceNotReady
    └─ IPPolicy/office         team        True    Available           ipp_1"
  `);
});

test.each([80, 160])("at %i columns no line is longer", (columns) => {
  const text = render(forest, undefined, { ...inPipe, columns });
  expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThanOrEqual(columns);
  expect(text).toContain("TCPEdge/ssh");
});

test("what is not Ready is red, and what has no object is grey", () => {
  const lines = render(forest, undefined, { ...inPipe, hasColours: true }).split("\n");
  const colourOf = (text: string) => lines.find((line) => line.includes(text))?.slice(0, 5);
  expect([colourOf("TCPEdge/ssh"), colourOf("bkdtg_1")]).toEqual(["\x1b[31m", "\x1b[90m"]);
  expect(lines.find((line) => line.includes("IPPolicy/office"))).not.toContain("\x1b");
});

test("for other programs there are JSON, dot and mermaid", () => {
  expect(JSON.parse(render(forest, "json", inPipe))).toContainEqual({
    key: "TCPEdge/team/ssh",
    ...{ kind: "TCPEdge", id: "edgtcp_1", namespace: "team", name: "ssh", ready: "False", reason: "Forbidden" },
    inAccount: true,
    uses: ["IPPolicy/team/office", "ReservedAddress/team/ssh", "TunnelGroupBackend/bkdtg_1"],
    usedBy: [],
  });
  expect(render(forest, "dot", inPipe)).toContain('"ReservedAddress/team/ssh" -> "TCPEdge/team/ssh";');
  expect(render(forest, "mermaid", inPipe)).toContain('TCPEdge_team_ssh["TCPEdge/team/ssh"]');
});
