import { parse, stringify } from "yaml";
import { API_VERSION, annotations } from "../../src/schema/contract.ts";

/** What layoutOf makes its files from. Texts are those of files. */
export interface Sources {
  /** A patch of `argocd-cm`, with health for a group by a wildcard, and with actions for each of its kinds. */
  configMap: string;
  /** Tests of the health script, as Argo CD has them, and the objects that they name. */
  healthTests: string;
  objects: ReadonlyMap<string, string>;
}

interface Action {
  name: string;
  "action.lua": string;
}

interface Actions {
  "discovery.lua": string;
  definitions: readonly Action[];
}

const ACTIONS = "resource.customizations.actions.";

/**
 * The files of `resource_customizations` in the repository of Argo CD, by their paths in it. A folder stands for a group or
 * a kind; `_` in its name stands for any text. Throws an Error when the patch has another shape.
 */
export function layoutOf({ configMap, healthTests, objects }: Sources): Map<string, string> {
  const { data } = parse(configMap) as { data: Record<string, string> };
  const [[wildcard = "", health] = []] = Object.entries(
    parse(data["resource.customizations"] ?? "{}") as Record<string, { "health.lua": string }>,
  );
  const group = wildcard.replace(/\/\*$/, "");
  if (!health || group === wildcard)
    throw new Error(`argocd-cm has no health for a whole group, but for "${wildcard}"`);
  const files = new Map([
    [`${group}/_/health.lua`, health["health.lua"]],
    [`${group}/_/health_test.yaml`, healthTests],
  ]);
  for (const [name, text] of objects) files.set(`${group}/_/testdata/${name}`, text);
  for (const [key, text] of Object.entries(data)) {
    if (!key.startsWith(`${ACTIONS}${group}_`)) continue;
    const kind = key.slice(`${ACTIONS}${group}_`.length);
    for (const [name, content] of actionFiles(parse(text) as Actions, kind))
      files.set(`${group}/${kind}/actions/${name}`, content);
  }
  return files;
}

function* actionFiles(actions: Actions, kind: string): Generator<[string, string]> {
  const names = actions.definitions.map(({ name }) => name);
  yield ["discovery.lua", actions["discovery.lua"]];
  for (const action of actions.definitions) yield [`${action.name}/action.lua`, action["action.lua"]];
  const type = { apiVersion: API_VERSION, kind };
  const metadata = { name: "sample", namespace: "team-a" };
  yield ["testdata/sample.yaml", stringify({ ...type, metadata })];
  const canPause = names.includes("pause");
  if (canPause) {
    yield [
      "testdata/paused.yaml",
      stringify({ ...type, metadata: { ...metadata, annotations: { [annotations.paused]: "true" } } }),
    ];
    yield ["testdata/resumed.yaml", stringify({ ...type, metadata })];
  }
  yield ["action_test.yaml", stringify({ ...discoveryTests(names), ...(canPause && { actionTests }) })];
}

/** The action `reconcile` is left out: it writes the present time, which no file can expect. */
const actionTests = [
  { action: "pause", inputPath: "testdata/sample.yaml", expectedOutputPath: "testdata/paused.yaml" },
  { action: "resume", inputPath: "testdata/paused.yaml", expectedOutputPath: "testdata/resumed.yaml" },
];

/** What is offered for an object at work and for one that is paused. */
function discoveryTests(names: readonly string[]): object {
  const offered = (isPaused: boolean) =>
    names.map((name) => ({ name, disabled: name === "resume" ? !isPaused : isPaused && names.includes("pause") }));
  const tests = [{ inputPath: "testdata/sample.yaml", result: offered(false) }];
  if (names.includes("pause")) tests.push({ inputPath: "testdata/paused.yaml", result: offered(true) });
  return { discoveryTests: tests };
}
