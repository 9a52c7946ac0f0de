import { describe, expect, it, test } from "vitest";
import { flawIn, isTooDeep, MAX_DEPTH } from "./bounds.ts";
import { readListing, readOne } from "./read.ts";
import { tcpEdges } from "./resources/index.ts";

const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;

describe("flawIn", () => {
  it.each([[JSON.parse(nested(MAX_DEPTH))], [[1, -1, 0.1, 1e-300, 2 ** 53 - 1, null, true, "9223372036854775807"]]])(
    "finds nothing in what can be carried",
    (value) => expect(flawIn(value)).toBeUndefined(),
  );

  it.each([
    ["9007199254740993", "number"],
    ["-9223372036854775807", "number"],
    ["1e21", "number"],
    ["1e400", "number"],
    [nested(MAX_DEPTH), "deep"],
    [nested(100_000), "deep"],
  ])("names the place of what cannot be carried: %.20s", (text, what) => {
    const flaw = flawIn(JSON.parse(`{"ok": 1, "rules": [{"config": ${text}}]}`));
    expect(flaw?.what).toBe(what);
    expect(flaw?.path).toMatch(/^rules\[0\]\.config/);
    expect(flaw?.path.length).toBeLessThan(60);
  });

  it("finds depth beside a number", () => {
    expect(isTooDeep([JSON.parse(nested(3000)), 2 ** 60])).toBe(true);
  });
});

const row = (id: string, config: string): string =>
  `{"id":"${id}","policy":{"enabled":true,"inbound":[{"name":"r","actions":[{"type":"custom","config":${config}}]}]}}`;

// guards against one edge that stops the lists of the whole account
test.each([nested(3000), '{"most": 9223372036854775807}'])(
  "a row that cannot be carried is unreadable, and no other",
  (config) => {
    const listing = readListing(
      "tcp_edges",
      tcpEdges.wire,
      `{"tcp_edges":[${row("edgtcp_1", config)},${row("edgtcp_2", "{}")}]}`,
    );
    expect(listing.rows.map(({ id }) => id)).toEqual(["edgtcp_2"]);
    expect(listing.problems).toMatchObject([{ id: "edgtcp_1" }]);
    expect(() => readOne(tcpEdges.wire, row("edgtcp_1", config))).toThrow();
  },
);
