import { complaints } from "../verdict.ts";
import type { End } from "./becoming-ready.ts";
import { type Line, line } from "./line.ts";

/** How it ended. After a failure also the objects that are not Ready, and the last lines of the operator's log. */
export function report({ verdict, objects, seconds }: End, expected: readonly string[], log: string): Line[] {
  const after = `after ${seconds.toFixed(1)} s`;
  if (verdict === "ready") return [[], line(`  ✓ all ${expected.length} objects are Ready ${after}`, "green")];
  const why = verdict === "stuck" ? "and waiting is of no use" : "and the time is over";
  return [
    [],
    line(`  ✗ not all objects are Ready ${after}, ${why}`, "red"),
    ...complaints(expected, objects).map((complaint) => line(`    ${complaint}`)),
    line("\n  Last lines of the operator's log", "bold"),
    ...log.split("\n").map((text) => line(`    ${text}`, "dim")),
  ];
}
