import { setImmediate as others } from "node:timers/promises";
import { Graph, layout } from "@dagrejs/dagre";
import { LRUCache } from "lru-cache";
import type { Arrow } from "../../tree/drawing.ts";

export const BOX = { width: 208, height: 48 };
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

/** Each component by itself, one below the other, and what has no arrow at the end. Others get their turn in between. */
export async function layoutOf(components: readonly Component[]): Promise<Places> {
  const all: Places = { width: 0, height: 0, boxes: new Map(), lines: [] };
  let before = performance.now();
  for (const component of components.filter(({ keys }) => keys.length > 1)) {
    if (performance.now() - before > 20) {
      await others();
      before = performance.now();
    }
    add(all, placesOf(component));
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
  arrows: [from: number, to: number][];
}

interface Drawn {
  width: number;
  height: number;
  boxes: Point[];
  lines: Point[][];
}

function placesOf({ keys, arrows }: Component): Places {
  const numbers = new Map(keys.map((key, index) => [key, index]));
  const numberOf = (key: string) => numbers.get(key) ?? 0;
  const shape: Shape = { boxes: keys.length, arrows: arrows.map(({ from, to }) => [numberOf(from), numberOf(to)]) };
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

/** In layers from left to right. `tight-tree`: the other ways take seconds for a thousand boxes. */
function layered({ boxes, arrows }: Shape): Drawn {
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ rankdir: "LR", ranker: "tight-tree", nodesep: GAP.box, ranksep: GAP.column });
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
