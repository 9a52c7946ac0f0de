import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import { GROUP } from "../../../src/schema/contract.ts";
import { verdictBinary } from "../../../tools/cluster/build/build.ts";
import type { KubeJSON } from "../../../tools/shared/objects.ts";
import { run } from "../../../tools/shared/run.ts";

/** The result of one tool for one object: its value or its error. */
interface Outcome {
  value?: KubeJSON;
  error?: string;
}

export interface Verdict {
  kstatus: Outcome;
  scripts: Record<string, Outcome>;
}

/**
 * The verdicts on all objects, in the same order, from one process. Runs each script for each object, as Argo CD does.
 */
export async function judge(
  objects: readonly object[],
  scripts: Readonly<Record<string, string>> = {},
): Promise<Verdict[]> {
  const { code, stdout, stderr } = await run(await verdictBinary(), [], {
    input: JSON.stringify({ objects, scripts }),
  });
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

/** The Lua of examples/gitops/argocd: health of the group, discovery of the actions of a kind, and each by its name. */
export async function argoScripts(kind = "IPPolicy"): Promise<Record<string, string>> {
  const file = join(import.meta.dirname, "../../../examples/gitops/argocd/argocd-cm.yaml");
  const { data } = parse(await readFile(file, "utf8"));
  const health = parse(data["resource.customizations"])[`${GROUP}/*`]["health.lua"];
  const actions = parse(data[`resource.customizations.actions.${GROUP}_${kind}`]);
  const named = actions.definitions.map((action: KubeJSON) => [action.name, action["action.lua"]]);
  return { health, discovery: actions["discovery.lua"], ...Object.fromEntries(named) };
}

/**
 * The object that Argo CD sends after an action. Lua has one kind of empty table. So where the action has left a member
 * empty, Argo CD keeps the former value.
 */
export function sentByArgo(returned: KubeJSON, before: KubeJSON): KubeJSON {
  const isMap = (value: unknown): value is KubeJSON =>
    typeof value === "object" && value !== null && !Array.isArray(value);
  const members = Object.entries(returned).map(([name, value]) => {
    const known = before[name];
    if (!isMap(known)) return [name, value];
    const isEmpty = Array.isArray(value) && value.length === 0;
    return [name, isEmpty ? known : isMap(value) ? sentByArgo(value, known) : value];
  });
  return Object.fromEntries(members);
}

/**
 * The two words of a verdict: the state by kstatus, and the health by Argo CD, which runs no script for an object that
 * is being deleted.
 */
export function words(object: KubeJSON, verdict: Verdict | undefined): string {
  const health = object.metadata.deletionTimestamp ? "Progressing" : said(verdict?.scripts["health"]);
  return `${said(verdict?.kstatus)} ${health}`;
}

const said = ({ value, error }: Outcome = {}): string => value?.status ?? error ?? "nothing";
