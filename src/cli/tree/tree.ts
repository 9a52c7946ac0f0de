import type { AccountFlags } from "../account/credentials.ts";
import { reportPartial } from "../cluster/partial.ts";
import { placeOf } from "../cluster/scope.ts";
import { findNodes } from "../graph/find.ts";
import type { Node } from "../graph/graph.ts";
import { load } from "../graph/load.ts";
import { wantedBy } from "../graph/named.ts";
import { nameOf } from "../graph/output.ts";
import { type OutputFlags, print } from "../terminal/output.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { dot, drawingOf, mermaid } from "./drawing.ts";
import { forestOf } from "./forest.ts";
import type { Forest } from "./items.ts";
import { nodesOf } from "./nodes.ts";
import { renderTree } from "./render.ts";

/** The values of `-o` besides those of every list. */
export const drawings = ["dot", "mermaid"] as const;

interface Flags extends AccountFlags, OutputFlags {
  up?: boolean;
}

/** Most tunnels, sessions, or session credentials in one place. The outputs for programs have all. */
const MOST = 20;

/** `tree`: which nodes use which, from some objects or from all that nothing uses. Read-only. */
export async function tree(words: readonly string[], flags: Flags, terminal: Terminal): Promise<number> {
  const wanted = wantedBy(words);
  const { graph, problems, scope } = await load(flags, terminal, {
    sessions: !flags.up,
    isClusterEnough: true,
    isNamespaceNeeded: wanted.length === 0,
  });
  const from = wanted.length === 0 ? undefined : findNodes(graph, wanted, scope, problems);
  const isForPrograms = flags.output === "json" || flags.output === "yaml";
  const forest = forestOf(graph, { up: flags.up, from, most: isForPrograms ? undefined : MOST, scope });
  printForest(forest, flags, terminal);
  const shown = from ? graph.nodes.length : nodesIn(forest).length;
  if (shown === 0 && problems.length === 0) terminal.warn(`There are no objects in ${placeOf(scope)}`);
  if (shown < graph.nodes.length)
    terminal.warn(`${graph.nodes.length - shown} more in other namespaces, or without an object: see -A`);
  return reportPartial(problems, terminal);
}

const nodesIn = (forest: Forest): Node[] =>
  drawingOf(forest).items.flatMap((item) => (item.type === "node" ? item.node : []));

export function printForest(forest: Forest, flags: OutputFlags, terminal: Terminal): void {
  const drawing = flags.output === "dot" ? dot(forest) : flags.output === "mermaid" ? mermaid(forest) : undefined;
  if (drawing) terminal.say(drawing);
  else
    print(
      {
        value: () => nodesOf(forest),
        names: () => nodesIn(forest).map(nameOf),
        lines: (screen) => renderTree(forest, screen),
      },
      flags,
      terminal,
    );
}
