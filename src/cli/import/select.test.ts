import { expect, test } from "vitest";
import { kinds } from "../../kinds/index.ts";
import { selectionOf } from "./select.ts";

const filters = { excludeManaged: true };
const select = (args: string[], more: object = {}) => selectionOf(args, { ...filters, ...more }, kinds);
const names = (args: string[], more: object = {}) => select(args, more).kinds.map(({ kind }) => kind);

test.each([[["TCPEdge"]], [["tcpedges"]], [["gwtcp"]], [["edgtcp_1"]]])("%s selects TCP edges", (args) => {
  expect(names(args)).toEqual(["TCPEdge"]);
});

test("everything is each kind that the account lists", () => {
  expect(names([], { all: true })).toContain("ReservedDomain");
  expect(names([], { all: true })).not.toContain("HTTPSEdgeRoute");
});

test("a route is selected by the ids of edge and route", () => {
  const { unlisted, kinds: listed } = select(["edghts_1/edghtsrt_2"]);
  expect(unlisted.map(({ kind, id }) => [kind.kind, id])).toEqual([["HTTPSEdgeRoute", "edghts_1/edghtsrt_2"]]);
  expect(listed).toEqual([]);
});

test.each<[string, string[], object, object, boolean]>([
  ["an id", ["edgtcp_1"], {}, { id: "edgtcp_1" }, true],
  ["another id", ["edgtcp_1"], {}, { id: "edgtcp_2" }, false],
  ["a kind beside an id of it", ["tcpedge", "edgtcp_1"], {}, { id: "edgtcp_2" }, true],
  ["a mark", ["tcpedge"], {}, { id: "e", metadata: '{"tunnelgateway.dev/owner":"a/b/c"}' }, false],
  [
    "a mark, on request",
    ["tcpedge"],
    { excludeManaged: false },
    { id: "e", metadata: '{"tunnelgateway.dev/owner":"a/b/c"}' },
    true,
  ],
  ["labels", ["tcpedge"], { selector: "app=web" }, { id: "e", labels: { app: "web" } }, true],
  ["other labels", ["tcpedge"], { selector: "app=web" }, { id: "e", labels: { app: "db" } }, false],
  ["metadata", ["tcpedge"], { metadata: "team=a" }, { id: "e", metadata: '{"team":"a"}' }, true],
  ["what was uploaded", ["tlscertificate"], {}, { id: "cert_1", issued_at: null }, true],
  ["what the service has issued", ["tlscertificate"], {}, { id: "cert_1", issued_at: "2026-01-01T00:00:00Z" }, false],
  ["what the service has issued, by its id", ["cert_1"], {}, { id: "cert_1", issued_at: "2026-01-01T00:00:00Z" }, true],
  ["other metadata", ["tcpedge"], { metadata: "team=a" }, { id: "e", metadata: "a" }, false],
])("%s", (_, args, more, remote, expected) => {
  const {
    kinds: [kind],
    matches,
    isManaged,
  } = select(args, more);
  // the command counts the remotes that it leaves out only because they have an owner mark
  const mark = { metadata: '{"tunnelgateway.dev/owner":"a/b/c"}' };
  if (kind && expected && !("metadata" in remote))
    expect(isManaged(kind, { ...(remote as { id: string }), ...mark })).toBe(!("excludeManaged" in more));
  expect(kind && matches(kind, remote as { id: string })).toBe(expected);
});

test.each([
  [["tcpedgs"], /tcpedgs/],
  [[], /--all/],
])("%j is refused", (args, message) => {
  expect(() => select(args)).toThrow(message);
});
