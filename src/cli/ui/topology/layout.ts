import { setImmediate as others } from "node:timers/promises";
import { Graph, layout } from "@dagrejs/dagre";
import { LRUCache } from "lru-cache";
import type { Arrow } from "../../tree/drawing.ts";
import { BOX } from "../view/style.ts";

const GAP = { box: 10, column: 74 };
/** Boxes without an arrow stand side by side. */
const IN_A_ROW = 5;

export interface Point {
  x: number;
  y: number;
}

/** Where everything stands. A box is named by the key of its item; its point is its left upper corner. */
export interface Places {
  width: number;
  height: number;
  boxes: Map<string, Point>;
  lines: { arrow: Arrow; points: Point[] }[];
}

/** Keys that hang together, and the arrows between them. */
export interface Component {
  keys: string[];
  arrows: Arrow[];
}

/** What hangs together, in the order of the keys. */
export function componentsOf(keys: readonly string[], arrows: readonly Arrow[]): Component[] {
  const known = new Set(keys);
  const ours = arrows.filter(({ from, to }) => known.has(from) && known.has(to));
  const beside = new Map<string, string[]>(keys.map((key) => [key, []]));
  for (const { from, to } of ours) {
    beside.get(from)?.push(to);
    beside.get(to)?.push(from);
  }
  const of = new Map<string, Component>();
  const components: Component[] = [];
  for (const key of keys) {
    if (of.has(key)) continue;
    const component: Component = { keys: [], arrows: [] };
    components.push(component);
    const open = [key];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (of.has(next)) continue;
      of.set(next, component);
      component.keys.push(next);
      open.push(...(beside.get(next) ?? []));
    }
  }
  for (const arrow of ours) of.get(arrow.from)?.arrows.push(arrow);
  return components;
}

/** By shape. A state that changes moves no box, and an account has the same few shapes again and again. */
const known = new LRUCache<string, Drawn>({ max: 1_000 });

/**
 * Each component by itself, one below the other, and what has no arrow at the end. Others get their turn in between.
 * `isFirst`: what nobody uses, and stands in the first column.
 */
export async function layoutOf(
  components: readonly Component[],
  isFirst: (key: string) => boolean = () => false,
): Promise<Places> {
  const all: Places = { width: 0, height: 0, boxes: new Map(), lines: [] };
  let before = performance.now();
  for (const component of components.filter(({ keys }) => keys.length > 1)) {
    if (performance.now() - before > 20) {
      await others();
      before = performance.now();
    }
    add(all, placesOf(component, isFirst));
  }
  add(all, gridOf(components.flatMap(({ keys }) => (keys.length === 1 ? keys : []))));
  return all;
}

function add(all: Places, { width, height, boxes, lines }: Places): void {
  if (boxes.size === 0) return;
  const top = all.height === 0 ? 0 : all.height + 2 * GAP.box;
  const below = ({ x, y }: Point): Point => ({ x, y: y + top });
  for (const [key, point] of boxes) all.boxes.set(key, below(point));
  all.lines.push(...lines.map(({ arrow, points }) => ({ arrow, points: points.map(below) })));
  all.width = Math.max(all.width, width);
  all.height = top + height;
}

function gridOf(keys: readonly string[]): Places {
  const at = (index: number): Point => ({
    x: (index % IN_A_ROW) * (BOX.width + GAP.box),
    y: Math.floor(index / IN_A_ROW) * (BOX.height + GAP.box),
  });
  const boxes = new Map(keys.map((key, index) => [key, at(index)]));
  const columns = Math.min(keys.length, IN_A_ROW);
  const height = Math.ceil(keys.length / IN_A_ROW) * (BOX.height + GAP.box) - GAP.box;
  return { width: columns * (BOX.width + GAP.box) - GAP.box, height: Math.max(0, height), boxes, lines: [] };
}

/** Numbers in place of keys: what hangs together in the same way stands in the same way. */
interface Shape {
  boxes: number;
  first: number[];
  arrows: [from: number, to: number][];
}

interface Drawn {
  width: number;
  height: number;
  boxes: Point[];
  lines: Point[][];
}

function placesOf({ keys, arrows }: Component, isFirst: (key: string) => boolean): Places {
  const numbers = new Map(keys.map((key, index) => [key, index]));
  const numberOf = (key: string) => numbers.get(key) ?? 0;
  const shape: Shape = {
    boxes: keys.length,
    first: keys.filter(isFirst).map(numberOf),
    arrows: arrows.map(({ from, to }) => [numberOf(from), numberOf(to)]),
  };
  const name = JSON.stringify(shape);
  const { width, height, boxes, lines } = known.get(name) ?? layered(shape);
  known.set(name, { width, height, boxes, lines });
  return {
    width,
    height,
    boxes: new Map(keys.map((key, index) => [key, boxes[index] as Point])),
    lines: arrows.map((arrow, index) => ({ arrow, points: lines[index] ?? [] })),
  };
}

/** In layers from left to right. */
function layered({ boxes, first, arrows }: Shape): Drawn {
  const graph = new Graph({ multigraph: true });
  const ranker = rankerWith(new Set(first.map(String)));
  graph.setGraph({ rankdir: "LR", ranker, nodesep: GAP.box, ranksep: GAP.column });
  const names = Array.from({ length: boxes }, (_, index) => String(index));
  for (const name of names) graph.setNode(name, { width: BOX.width, height: BOX.height });
  for (const [index, [from, to]] of arrows.entries()) graph.setEdge(String(from), String(to), {}, String(index));
  layout(graph);
  const { width = 0, height = 0 } = graph.graph();
  return {
    width,
    height,
    boxes: names.map((name) => {
      const { x = 0, y = 0 } = graph.node(name);
      return { x: x - BOX.width / 2, y: y - BOX.height / 2 };
    }),
    lines: arrows.map(([from, to], index) => {
      const { points = [] } = graph.edge(String(from), String(to), String(index)) as { points?: Point[] };
      return points.map(({ x, y }) => ({ x, y }));
    }),
  };
}

/** What a ranker sees of a graph of dagre, whose types are not found. An edge leads from `v` to `w`. */
interface Ranked {
  nodes: () => string[];
  node: (name: string) => { rank?: number };
  inEdges: (name: string) => EdgeName[] | undefined;
  outEdges: (name: string) => EdgeName[] | undefined;
  edge: (name: EdgeName) => { minlen: number };
}

type EdgeName = { v: string; w: string };

/**
 * Each box right of all that use it. What nobody uses stands in the first column if it is named here, and else one column
 * further where it can: an edge without a domain is below those with one. Dagre's own ways move a box with one arrow to
 * what it leads to, wherever that stands, or take seconds for a thousand boxes.
 */
const rankerWith =
  (first: ReadonlySet<string>) =>
  (graph: Ranked): void => {
    const order = inOrder(graph);
    const rankOf = (name: string): number => graph.node(name).rank ?? 0;
    const lengthOf = (arrow: EdgeName): number => graph.edge(arrow).minlen;
    for (const name of order) {
      const least = (graph.inEdges(name) ?? []).map((arrow) => rankOf(arrow.v) + lengthOf(arrow));
      graph.node(name).rank = Math.max(0, ...least);
    }
    for (const name of order) {
      const under = graph.outEdges(name) ?? [];
      // dagre adds a node that leads to all
      const isUsed = (graph.inEdges(name)?.length ?? 0) !== 1;
      if (isUsed || first.has(name) || under.length === 0) continue;
      const most = Math.min(...under.map((arrow) => rankOf(arrow.w) - lengthOf(arrow)));
      graph.node(name).rank = Math.min(most, rankOf(name) + Math.max(...under.map(lengthOf)));
    }
  };

/** Nodes after all that lead to them. The graph has no circle: dagre has turned arrows for that. */
function inOrder(graph: Ranked): string[] {
  const left = new Map(graph.nodes().map((name) => [name, graph.inEdges(name)?.length ?? 0]));
  const order = [...left].filter(([, count]) => count === 0).map(([name]) => name);
  for (const name of order)
    for (const { w } of graph.outEdges(name) ?? []) {
      const count = (left.get(w) ?? 0) - 1;
      left.set(w, count);
      if (count === 0) order.push(w);
    }
  return order;
}
