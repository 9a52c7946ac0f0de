import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Scenario } from "../../test/fakes/reconcile/scenario-steps.ts";
import { scenarios } from "../../test/fakes/reconcile/scenarios.ts";
import { scenariosAmongOthers } from "../../test/fakes/reconcile/scenarios-among-others.ts";
import { Stage } from "../../test/fakes/reconcile/stage.ts";
import { kinds } from "../kinds/index.ts";
import type { Kind } from "../schema/define.ts";

// What the operator does for one object of each kind, from its creation to its end, in the files of the folder goldens.
// After a change, `npm run test:unit -- src/reconcile/lifecycles.test.ts -u` writes them anew: read their difference.

// delays after failures are chosen at random
beforeEach(() => {
  vi.spyOn(Math, "random").mockReturnValue(0.5);
});
afterEach(() => {
  vi.restoreAllMocks();
});

const all = Object.entries({ ...scenarios, ...scenariosAmongOthers });

test.each(all)("%s", async (name, parts) => {
  const titles = new Map<string, string[]>();
  for (const [title, scenario] of Object.entries(parts)) {
    const told = await traces(scenario);
    titles.set(told, [...(titles.get(told) ?? []), title]);
  }
  const sections = [...titles].map(([told, of]) => `# ${of.join("; ")}\n\n${told}`);
  await expect(sections.join("\n")).toMatchFileSnapshot(`goldens/${name}.txt`);
});

// Kinds with a name, with users, with modules and with entries.
test.each(["ReservedDomain", "IPPolicy", "HTTPSEdgeRoute", "EventSource"])("what people read of %s", async (name) => {
  const kind = kinds.find((one) => one.kind === name) as Kind;
  const messages = new Set<string>();
  for (const { run, only = () => true, options } of all.flatMap(([, parts]) => Object.values(parts))) {
    if (!only(kind)) continue;
    const stage = new Stage(kind, options);
    await run(stage);
    for (const message of stage.messages) messages.add(message);
  }
  await expect(`${[...messages].sort().join("\n")}\n`).toMatchFileSnapshot(`goldens/messages-${name}.txt`);
});

/** What a message advises to delete or remove: its words up to the next comma or colon. */
const deletionsIn = (message: string): string[] => message.match(/\b(?:[Dd]elete|[Rr]emove)\b[^,:]*/g) ?? [];

/**
 * Whether it is in another namespace, and so may be run by somebody else: a message names it `namespace/name`. In the own
 * namespace that is `Kind "name"`.
 */
const isOfOthers = (words: string): boolean => /(?<![.\w-])[a-z0-9-]+\/[a-z0-9-]+/.test(words);

/** The lines of each kind; kinds with the same lines together. No message may tell to delete what others may run. */
async function traces({ run, only = () => true, options }: Scenario): Promise<string> {
  const byTrace = new Map<string, string[]>();
  for (const kind of kinds.filter(only)) {
    const stage = new Stage(kind, options);
    await run(stage);
    const advised = [...stage.messages].flatMap(deletionsIn);
    expect(advised.filter(isOfOthers), kind.kind).toEqual([]);
    const trace = stage.lines.join("\n");
    byTrace.set(trace, [...(byTrace.get(trace) ?? []), kind.kind]);
  }
  return [...byTrace].map(([trace, names]) => `${names.join(", ")}:\n${trace}\n`).join("\n");
}
