import { type AccountFlags, namespaceOfFlags } from "../account/credentials.ts";
import { reportPartial } from "../cluster/partial.ts";
import { findNodes } from "../graph/find.ts";
import { load } from "../graph/load.ts";
import type { OutputFlags } from "../graph/output.ts";
import type { Line } from "../terminal/line.ts";
import { structured } from "../terminal/structured.ts";
import { type Terminal, UsageError } from "../terminal/terminal.ts";
import { dot, mermaid } from "./drawing.ts";
import { forestOf } from "./forest.ts";
import type { Forest } from "./items.ts";
import { nodesOf } from "./nodes.ts";
import { renderTree } from "./render.ts";

interface Flags extends AccountFlags, OutputFlags {
  up?: boolean;
}

/** Most tunnels, sessions, or session credentials in one place. The outputs for programs have all. */
const MOST = 20;

/** `tree`: which nodes use which, from one object or from all unused nodes. Read-only. */
export async function tree(text: string | undefined, flags: Flags, terminal: Terminal): Promise<number> {
  const { graph, problems } = await load(flags, terminal, { sessions: !flags.up });
  const from = text === undefined ? undefined : findNodes(graph, text, namespaceOfFlags(flags), problems);
  const isForPrograms = flags.output === "json" || flags.output === "yaml";
  const forest = forestOf(graph, { up: flags.up, from, most: isForPrograms ? undefined : MOST });
  terminal.say(render(forest, flags, terminal));
  return reportPartial(problems, terminal);
}

export function render(forest: Forest, { output, headers }: OutputFlags, terminal: Terminal): readonly Line[] {
  switch (output) {
    case undefined:
      return renderTree(forest, terminal, headers === false);
    case "json":
    case "yaml":
      return structured(nodesOf(forest), output);
    case "dot":
      return dot(forest);
    case "mermaid":
      return mermaid(forest);
    default:
      throw new UsageError("-o must be json, yaml, dot or mermaid");
  }
}
