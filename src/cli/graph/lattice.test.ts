import { expect, test } from "vitest";
import { object } from "../../../test/fakes/cli/graph.ts";
import { TunnelGroupBackend } from "../../kinds/tunnel-group-backend.ts";
import { WeightedBackend } from "../../kinds/weighted-backend.ts";
import { type Lines, printed } from "../terminal/line.ts";
import type { OutputFlags } from "../terminal/output.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { forestOf } from "../tree/forest.ts";
import type { Forest } from "../tree/items.ts";
import { printForest } from "../tree/tree.ts";
import { causesOf } from "../why/why.ts";
import { graphOf } from "./graph.ts";

// What is printed grows with the nodes and the arrows of a graph, and never with the ways through it.

const terminal = { say: () => {}, warn: () => {} };

function shown(forest: Forest, flags: OutputFlags, terminal: Partial<Terminal>): string {
  const said: string[] = [];
  const say = (lines: Lines) => void said.push(printed(lines, terminal.hasColours === true));
  printForest(forest, flags, { warn: () => {}, ...terminal, say });
  return said.join("\n");
}

const weighted = (name: string, used: readonly string[], kind: (one: string) => string) =>
  object(WeightedBackend, name, {
    reason: "ReferenceNotReady",
    spec: { backends: used.map((one) => ({ backendRef: { kind: kind(one), name: one }, weight: 1 })) },
  });

/** Layers of two backends; each refers to both of the layer below, so there are 2 to the power of `layers` ways. */
function lattice(layers: number) {
  const base = ["l0", "r0"].map((name) => object(TunnelGroupBackend, name, { reason: "Forbidden" }));
  const kind = (one: string) => (one.endsWith("0") && one.length === 2 ? "TunnelGroupBackend" : "WeightedBackend");
  const above = Array.from({ length: layers }, (_, index) =>
    ["l", "r"].map((side) => weighted(`${side}${index + 1}`, [`l${index}`, `r${index}`], kind)),
  );
  return graphOf(
    new Map(),
    new Map([
      [TunnelGroupBackend, base],
      [WeightedBackend, above.flat()],
    ]),
  );
}

/** Each uses the next one, and the last one uses the first if it is a ring. */
function chain(length: number, isRing: boolean) {
  const next = (index: number) => (index + 1 < length ? [`b${index + 1}`] : isRing ? ["b0"] : []);
  const all = Array.from({ length }, (_, index) => weighted(`b${index}`, next(index), () => "WeightedBackend"));
  return graphOf(new Map(), new Map([[WeightedBackend, all]]));
}

test.each([{ up: false }, { up: true }])("a tree shows what several use once: %j", ({ up }) => {
  const lines = shown(forestOf(lattice(22), { up }), {}, terminal).split("\n");
  // the headings, two roots, and two lines for each of the others: one is the first, and one says where that is
  expect(lines).toHaveLength(1 + 2 + 22 * 4);
  expect(lines.filter((line) => line.includes("(see above)")).length).toBe(2 * 21);
});

test.each(["json", "yaml", "dot", "mermaid"])("-o %s ends too", (output) => {
  expect(shown(forestOf(lattice(22)), { output }, terminal).split("\n").length).toBeLessThan(2000);
});

test("why explains each object once", () => {
  const graph = lattice(22);
  const lines = graph.nodes.filter(({ object }) => object?.metadata.name === "l22").flatMap((node) => causesOf(node));
  expect(lines.filter((line) => !line.includes("see above") && line.includes("is not Ready"))).toHaveLength(45);
  expect(lines.length).toBeLessThan(200);
});

test("how deep a chain is does not matter", () => {
  const graph = chain(3000, false);
  for (const flags of [{}, { output: "json" }, { output: "dot" }])
    expect(shown(forestOf(graph), flags, terminal)).toContain("b2999");
  expect(
    graph.nodes
      .slice(0, 1)
      .flatMap((node) => causesOf(node))
      .at(-1),
  ).toContain("looks again");
});

test("a ring, which nothing else uses, is shown, and says where it closes", () => {
  const graph = chain(3, true);
  expect(
    shown(forestOf(graph), { headers: false }, terminal)
      .split("\n")
      .map((line) => line.replace(/ {3,}t.*/, "")),
  ).toEqual([
    "WeightedBackend/b0",
    "└─ 100 % WeightedBackend/b1",
    "   └─ 100 % WeightedBackend/b2",
    "      └─ 100 % WeightedBackend/b0 (see above)",
  ]);
  const first = graph.nodes.slice(0, 1);
  expect(first.flatMap((node) => causesOf(node)).at(-1)).toBe("      WeightedBackend/b0 is not Ready (see above)");
});
