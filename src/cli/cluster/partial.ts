import type { Terminal } from "../terminal/terminal.ts";

/** Says that what was printed is only a part, and why. Returns the exit code. */
export function reportPartial(problems: readonly string[], terminal: Terminal): number {
  if (problems.length === 0) return 0;
  terminal.warn("This is only a part:");
  for (const problem of problems) terminal.warn(problem);
  return 1;
}
