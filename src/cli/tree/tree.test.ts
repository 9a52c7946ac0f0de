import { describe, expect, test } from "vitest";
import { object, small } from "../../../test/fakes/cli/graph.ts";
import { FailoverBackend } from "../../kinds/failover-backend.ts";
import { HTTPSEdgeRoute } from "../../kinds/https-edge-route.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import { ReservedDomain } from "../../kinds/reserved-domain.ts";
import { SSHCredential } from "../../kinds/ssh-credential.ts";
import { TCPEdge } from "../../kinds/tcp-edge.ts";
import { TLSEdge } from "../../kinds/tls-edge.ts";
import { TunnelGroupBackend } from "../../kinds/tunnel-group-backend.ts";
import { WeightedBackend } from "../../kinds/weighted-backend.ts";
import type { Kind } from "../../schema/define.ts";
import { type Graph, graphOf } from "../graph/graph.ts";
import { groupsOf, type TunnelSession } from "../graph/sessions.ts";
import { type Lines, printed } from "../terminal/line.ts";
import type { OutputFlags } from "../terminal/output.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { forestOf } from "./forest.ts";
import type { Forest } from "./items.ts";
import { printForest } from "./tree.ts";

const forest = forestOf(small());
const inPipe: Terminal = { say: () => {}, warn: () => {} };

function shown(forest: Forest, flags: OutputFlags, terminal: Partial<Terminal>): string {
  const said: string[] = [];
  const say = (lines: Lines) => void said.push(printed(lines, terminal.hasColours === true));
  printForest(forest, flags, { warn: () => {}, ...terminal, say });
  return said.join("\n");
}

type Rows = [Kind, ({ id: string } & Record<string, unknown>)[]][];

/** A graph of remotes, without objects. */
const remotesOf = (rows: Rows): Graph => graphOf(new Map(rows), new Map());

const withSessions = (graph: Graph, sessions: readonly TunnelSession[]): Graph => ({
  ...graph,
  sessions: groupsOf(sessions),
});

/** The names of a tree, one a line. */
function namesOf(graph: Graph, sessions: readonly TunnelSession[] = [], most?: number): string[] {
  const [, ...lines] = shown(forestOf(withSessions(graph, sessions), { most }), {}, inPipe).split("\n");
  return lines.map((line) => line.replace(/ {3}.*$/, (rest) => (/^ *[├└]/.test(rest) ? rest : "")).trimEnd());
}

const session = (id: string, credential: string | undefined): TunnelSession =>
  ({ id, region: "eu", ...(credential && { credential: { id: credential } }) }) as TunnelSession;

const sessionsOf = (count: number, credential: string): TunnelSession[] =>
  Array.from({ length: count }, (_, index) => session(`ts_${credential}_${100 + index}`, credential));

test.each([true, false])("an edge leads to a policy that is not Ready if its restriction is on: %s", (enabled) => {
  const spec = { ipRestriction: { enabled, ipPolicyRefs: [{ name: "office" }] } };
  const graph = graphOf(
    new Map(),
    new Map([
      [IPPolicy, [object(IPPolicy, "office", { reason: "InvalidSpec" })]],
      [TCPEdge, [object(TCPEdge, "ssh", { spec })]],
    ]),
  );
  const lines = shown(forestOf(graph), {}, inPipe).split("\n");
  const cells = lines.find((line) => line.startsWith("TCPEdge"))?.split(/ {2,}/);
  expect(lines.join("\n")).toContain("─ IPPolicy/office");
  expect(cells?.slice(2, 4)).toEqual(["True", enabled ? "Available, leads to InvalidSpec" : "Available"]);
});

test("in a pipe no line is cut, and there are no colours", () => {
  expect(shown(forest, {}, inPipe)).toMatchInlineSnapshot(`
    "NAME                                  NAMESPACE   READY   REASON                          ID
    IPPolicy ipp_left                                         (no object)                     ipp_left
    IPPolicy ipp_nobody                                       (no object)                     ipp_nobody
    IPPolicy/lost                         team        True    Available                       ipp_lost
    ReservedAddress/ssh                   team        True    Available, leads to Forbidden   ra_1
    └─ TCPEdge/ssh                        team        False   Forbidden                       edgtcp_1
       ├─ backend
       │  └─ TunnelGroupBackend bkdtg_1                       (no object)                     bkdtg_1
       └─ ipRestriction
          └─ IPPolicy/office              team        True    Available                       ipp_1
    TCPEdge/later                         team        False   ReferenceNotReady
    └─ ipRestriction
       └─ IPPolicy/office                 team        True    Available                       ipp_1"
  `);
});

test("without headings only rows are printed", () => {
  const [heading = "", ...lines] = shown(forest, {}, inPipe).split("\n");
  const text = shown(forest, { headers: false }, inPipe);
  expect(heading).toContain("NAMESPACE");
  expect(text).not.toContain("NAMESPACE");
  expect(text.split("\n")).toHaveLength(lines.length);
});

test.each([80, 160])("at %i columns no line is longer", (columns) => {
  const text = shown(forest, {}, { ...inPipe, columns });
  expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThanOrEqual(columns);
  expect(text).toContain("TCPEdge/ssh");
});

test("in a narrow terminal ids are left out, then names are cut, and reasons never", () => {
  const long = object(TCPEdge, `edge-${"x".repeat(58)}`, { id: "edgtcp_1", reason: "ReferenceNotReady" });
  const graph = graphOf(new Map(), new Map([[TCPEdge, [long]]]));
  const text = shown(forestOf(graph), {}, { ...inPipe, columns: 80 });
  expect(text.split("\n").map(({ length }) => length <= 80)).toEqual([true, true]);
  expect(text).toMatch(/x… +team +False +ReferenceNotReady$/);
});

test("in a narrow terminal the namespace that the user has named is left out before names are cut", () => {
  const long = object(TCPEdge, `edge-${"x".repeat(35)}`, { id: "edgtcp_1", reason: "ReferenceNotReady" });
  const graph = graphOf(new Map(), new Map([[TCPEdge, [long]]]));
  const [team, all] = [
    { namespace: "team", isAll: false },
    { namespace: "team", isAll: true },
  ].map((scope) => shown(forestOf(graph, { scope }), {}, { ...inPipe, columns: 80 }));
  expect(team).toMatch(/x{35} +False +ReferenceNotReady$/);
  expect(all).toMatch(/x… +team +False +ReferenceNotReady$/);
});

test("what a module does goes on where nothing stands beside it", () => {
  const edge = { id: "edgtls_1", hostports: [], tls_termination: { terminate_at: "edge", min_version: "1.2" } };
  const graph = remotesOf([[TLSEdge, [edge]]]);
  const text = shown(forestOf(graph), {}, { ...inPipe, columns: 56 });
  expect(text.split("\n").at(-1)).toBe("└─ tlsTermination: terminateAt edge, minVersion 1.2");
  expect(text).toMatch(/^TLSEdge edgtls_1 {3,} \(no object\)$/m);
});

test("a module says what it does, if nothing below it says so", () => {
  const policy = { enabled: true, inbound: [{}, {}], outbound: [] };
  const edge = { id: "edgtls_1", policy, tls_termination: { terminate_at: "edge", min_version: "1.2" } };
  expect(namesOf(remotesOf([[TLSEdge, [edge]]]))).toEqual([
    "TLSEdge edgtls_1",
    "├─ policy: 2 inbound",
    "└─ tlsTermination: terminateAt edge, minVersion 1.2",
  ]);
});

test("nodes that are not Ready are red, and remotes without an object grey", () => {
  const lines = shown(forest, {}, { ...inPipe, hasColours: true }).split("\n");
  const colourOf = (text: string) => lines.find((line) => line.includes(text))?.slice(0, 5);
  expect([colourOf("TCPEdge/ssh"), colourOf("bkdtg_1")]).toEqual(["\x1b[31m", "\x1b[90m"]);
  expect(lines.find((line) => line.includes("IPPolicy/office"))).not.toContain("\x1b");
});

test("for other programs there are JSON, dot and mermaid", () => {
  expect(JSON.parse(shown(forest, { output: "json" }, inPipe))).toContainEqual({
    key: "TCPEdge/team/ssh",
    kind: "TCPEdge",
    id: "edgtcp_1",
    namespace: "team",
    name: "ssh",
    ready: "False",
    reason: "Forbidden",
    inAccount: true,
    uses: ["IPPolicy/team/office", "ReservedAddress/team/ssh", "TunnelGroupBackend/bkdtg_1"],
    usedBy: [],
    modules: [
      { name: "backend", isOn: true, uses: ["TunnelGroupBackend/bkdtg_1"] },
      { name: "ipRestriction", isOn: true, uses: ["IPPolicy/team/office"] },
    ],
  });
  const dot = shown(forest, { output: "dot" }, inPipe);
  expect(dot).toContain('"ReservedAddress/team/ssh" -> "TCPEdge/team/ssh";');
  expect(dot).toContain('"TCPEdge/team/ssh" -> "IPPolicy/team/office" [label="ipRestriction"];');
  expect(dot).toContain('"TCPEdge/team/ssh" [color=red, fontcolor=red];');
  const mermaid = shown(forest, { output: "mermaid" }, inPipe);
  expect(mermaid).toContain('TCPEdge_team_ssh["TCPEdge/team/ssh"] -->|ipRestriction| IPPolicy_team_office');
  expect(mermaid).toContain("style TCPEdge_team_ssh color:red,stroke:red");
});

test("modules of a route, which no list shows, are those of its spec", () => {
  const route = object(HTTPSEdgeRoute, "login", {
    spec: { edgeId: "edghts_1", routeId: "edghtsrt_1", saml: {}, ipRestriction: { enabled: false } },
  });
  const graph = graphOf(new Map(), new Map([[HTTPSEdgeRoute, [route]]]));
  const text = shown(forestOf(graph), {}, inPipe);
  expect(text).toMatch(/├─ ipRestriction +\(off\)\n└─ saml +\(on\)$/);
});

describe("what a backend uses", () => {
  const group = (id: string, description: string) => ({ id, description });
  const groups: Rows[number] = [TunnelGroupBackend, [group("bkdtg_1", "Stable"), group("bkdtg_2", "Canary")]];

  test("stands in the order in which it is tried, which is that of the spec", () => {
    const failover = object(FailoverBackend, "shop", {
      spec: {
        backendRefs: [
          { kind: "TunnelGroupBackend", id: "bkdtg_2" },
          { kind: "TunnelGroupBackend", id: "bkdtg_1" },
        ],
      },
    });
    const graph = graphOf(new Map([groups]) as never, new Map([[FailoverBackend, [failover]]]));
    expect(namesOf(graph)).toEqual([
      "FailoverBackend/shop",
      "├─ 1. TunnelGroupBackend Canary",
      "└─ 2. TunnelGroupBackend Stable",
    ]);
    const remote = { id: "bkdfo_1", backends: [{ id: "bkdtg_2" }, { id: "bkdtg_1" }] };
    expect(namesOf(remotesOf([groups, [FailoverBackend, [remote]]])).slice(1)).toEqual([
      "├─ 1. TunnelGroupBackend Canary",
      "└─ 2. TunnelGroupBackend Stable",
    ]);
  });

  test("has its share of the traffic in per cent, as the spec or the account says", () => {
    const weighted = object(WeightedBackend, "shop", {
      spec: {
        backends: [
          { backendRef: { kind: "TunnelGroupBackend", id: "bkdtg_1" }, weight: 19 },
          { backendRef: { kind: "TunnelGroupBackend", id: "bkdtg_2" }, weight: 1 },
        ],
      },
    });
    const shares = ["├─ 95 % TunnelGroupBackend Stable", "└─ 5 % TunnelGroupBackend Canary"];
    const graph = graphOf(new Map([groups]) as never, new Map([[WeightedBackend, [weighted]]]));
    expect(namesOf(graph).slice(1)).toEqual(shares);
    const remote = { id: "bkdwd_1", backends: { bkdtg_1: 190, bkdtg_2: 10 } };
    expect(namesOf(remotesOf([groups, [WeightedBackend, [remote]]])).slice(1)).toEqual(shares);
  });
});

describe("an edge stands below the domain at whose host it listens", () => {
  const edge = (id: string, ...hostports: string[]) => ({ id, hostports });
  const domain = (id: string, name: string) => ({ id, domain: name });

  test.each<[string, Rows, string[]]>([
    [
      "the same host, in any case",
      [
        [ReservedDomain, [domain("rd_1", "Shop.example")]],
        [TCPEdge, [edge("edgtcp_1", "shop.Example:443")]],
      ],
      ["ReservedDomain Shop.example", "└─ TCPEdge edgtcp_1"],
    ],
    [
      "a wildcard",
      [
        [ReservedDomain, [domain("rd_1", "*.shop.example")]],
        [TCPEdge, [edge("edgtcp_1", "a.shop.example:443"), edge("edgtcp_2", "*.shop.example:443")]],
      ],
      ["ReservedDomain *.shop.example", "├─ TCPEdge edgtcp_1", "└─ TCPEdge edgtcp_2"],
    ],
    [
      "the same host rather than a wildcard",
      [
        [ReservedDomain, [domain("rd_1", "*.shop.example"), domain("rd_2", "a.shop.example")]],
        [TCPEdge, [edge("edgtcp_1", "a.shop.example:443")]],
      ],
      ["ReservedDomain *.shop.example", "ReservedDomain a.shop.example", "└─ TCPEdge edgtcp_1"],
    ],
    [
      "not the domain above, one that ends alike, or a wildcard further above",
      [
        [
          ReservedDomain,
          [domain("rd_1", "shop.example"), domain("rd_2", "*.hop.example"), domain("rd_3", "*.example")],
        ],
        [TCPEdge, [edge("edgtcp_1", "a.shop.example:443")]],
      ],
      ["*.example", "*.hop.example", "shop.example"].map((name) => `ReservedDomain ${name}`).concat("TCPEdge edgtcp_1"),
    ],
  ])("%s", (_, rows, names) => expect(namesOf(remotesOf(rows))).toEqual(names));

  test("also before either of them is in the account", () => {
    const graph = graphOf(
      new Map(),
      new Map([
        [ReservedDomain, [object(ReservedDomain, "shop", { reason: "Pending", spec: { domain: "shop.example" } })]],
        [TCPEdge, [object(TCPEdge, "shop", { reason: "Pending", spec: { hostports: ["shop.example:443"] } })]],
      ]),
    );
    expect(namesOf(graph)).toEqual(["ReservedDomain/shop", "└─ TCPEdge/shop"]);
    const up = forestOf(graph, { up: true });
    expect(shown(up, { headers: false }, inPipe)).toMatch(/^TCPEdge\/shop .*\n└─ ReservedDomain\/shop /);
  });
});

describe("tunnels and sessions", () => {
  const tunnels = (count: number) => Array.from({ length: count }, (_, index) => ({ id: `tn_${100 + index}` }));
  const backend = (count: number) => remotesOf([[TunnelGroupBackend, [{ id: "bkdtg_1", tunnels: tunnels(count) }]]]);
  const credential = remotesOf([[SSHCredential, [{ id: "sshcr_1" }]]]);

  test("a backend shows its tunnels, as many as fit, or that it has none", () => {
    expect(namesOf(backend(3), [], 2)).toEqual([
      "TunnelGroupBackend bkdtg_1",
      ...["├─ Tunnel tn_100", "├─ Tunnel tn_101", "└─ and 1 more tunnel"],
    ]);
    expect(namesOf(backend(0), [], 2)).toEqual(["TunnelGroupBackend bkdtg_1", "└─ no tunnels"]);
  });

  test("sessions are below their credential, credentials with most sessions first", () => {
    const all = [...sessionsOf(1, "cr_1"), ...sessionsOf(2, "cr_2"), session("ts_9", "sshcr_1"), session("ts_0", "")];
    expect(namesOf(credential, all)).toEqual([
      ...["SSHCredential sshcr_1", "└─ TunnelSession ts_9"],
      ...["Credential cr_2", "├─ TunnelSession ts_cr_2_100", "└─ TunnelSession ts_cr_2_101"],
      ...["Sessions without a credential", "└─ TunnelSession ts_0"],
      ...["Credential cr_1", "└─ TunnelSession ts_cr_1_100"],
    ]);
  });

  test("a thousand sessions take a few lines, and JSON has all of them", () => {
    const many = [
      ...sessionsOf(500, "sshcr_1"),
      ...Array.from({ length: 500 }, (_, index) => session(`ts_${index}`, `cr_${1000 + index}`)),
    ];
    const lines = namesOf(credential, many, 20);
    expect(lines).toHaveLength(1 + 21 + 20 * 2 + 1);
    expect(lines).toContain("└─ and 480 more tunnel sessions");
    expect(lines.at(-1)).toBe("and 480 more credentials with 480 tunnel sessions");
    const nodes = JSON.parse(shown(forestOf(withSessions(credential, many)), { output: "json" }, inPipe)) as {
      kind: string;
    }[];
    expect(nodes.filter(({ kind }) => kind === "TunnelSession")).toHaveLength(1000);
  });

  test("an object without a remote has no sessions", () => {
    const graph = graphOf(new Map(), new Map([[SSHCredential, [object(SSHCredential, "new", { reason: "Pending" })]]]));
    expect(namesOf(graph, [session("ts_1", "")])[0]).toBe("SSHCredential/new");
    expect(namesOf(graph, [session("ts_1", "")])[1]).toBe("Sessions without a credential");
  });
});
