import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { kinds } from "../kinds/index.ts";
import type { Scenario } from "./testing/scenario-steps.ts";
import { scenarios } from "./testing/scenarios.ts";
import { Stage } from "./testing/stage.ts";

// What the operator does for one object of each kind, from its creation to its end, in the files of the folder goldens.
// After a change, `npm run test:unit -- src/reconcile/lifecycles.test.ts -u` writes them anew: read their difference.

// delays after failures are chosen at random
beforeEach(() => {
  vi.spyOn(Math, "random").mockReturnValue(0.5);
});
afterEach(() => {
  vi.restoreAllMocks();
});

test.each(Object.entries(scenarios))("%s", async (name, parts) => {
  const titles = new Map<string, string[]>();
  for (const [title, scenario] of Object.entries(parts)) {
    const told = await traces(scenario);
    titles.set(told, [...(titles.get(told) ?? []), title]);
  }
  const sections = [...titles].map(([told, of]) => `# ${of.join("; ")}\n\n${told}`);
  await expect(sections.join("\n")).toMatchFileSnapshot(`goldens/${name}.txt`);
});

/** The lines of each kind; kinds with the same lines together. */
async function traces({ run, only = () => true, options }: Scenario): Promise<string> {
  const byTrace = new Map<string, string[]>();
  for (const kind of kinds.filter(only)) {
    const stage = new Stage(kind, options);
    await run(stage);
    const trace = stage.lines.join("\n");
    byTrace.set(trace, [...(byTrace.get(trace) ?? []), kind.kind]);
  }
  return [...byTrace].map(([trace, names]) => `${names.join(", ")}:\n${trace}\n`).join("\n");
}
