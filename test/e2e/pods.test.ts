import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { kubectlFor } from "../../tools/cluster/kubectl.ts";
import type { KubeJSON } from "../../tools/shared/objects.ts";
import { startSimulator } from "../../tools/simulator/simulator.ts";
import { ownImage } from "../support/image.ts";
import { type Image, refusalsOf } from "../support/pod-rules.ts";
import { chart, type Helm, helmFor, objectsIn, succeeded } from "./support/helm.ts";
import { Pod } from "./support/pod.ts";

/**
 * Every pod of the chart, with the values of each page and example and with each boolean turned, goes through the rules
 * of a node and through the Pod Security admission of a real API server.
 */
const root = join(import.meta.dirname, "../..");
const NAMESPACE = "restricted-pods";

type Values = Readonly<Record<string, KubeJSON>>;

/** `{a: {b: value}}` of `a.b`. */
const nested = (path: string, value: unknown): Values =>
  path.split(".").reduceRight((inner: KubeJSON, name) => ({ [name]: inner }), value);

function merged(...all: readonly Values[]): Values {
  const result: Record<string, KubeJSON> = {};
  for (const [name, value] of all.flatMap((one) => Object.entries(one)))
    result[name] = isObject(value) && isObject(result[name]) ? merged(result[name], value) : value;
  return result;
}
const isObject = (value: unknown): value is Values =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const booleansIn = (values: Values, path = ""): string[] =>
  Object.entries(values).flatMap(([name, value]) => {
    if (isObject(value)) return booleansIn(value, `${path}${name}.`);
    return typeof value === "boolean" ? [`${path}${name}`] : [];
  });

const defaults: Values = parse(await readFile(join(chart, "values.yaml"), "utf8"));

/** What has to be set beside a value that is turned. */
const beside: Readonly<Record<string, Values>> = {
  "leaderElection.enabled": { strategy: { type: "Recreate" } },
  "externalDNS.enabled": { externalDNS: { namespaces: ["team-a"] } },
  "externalDNS.optIn": { externalDNS: { namespaces: ["team-a"] } },
};

const defaultOf = (path: string): unknown => path.split(".").reduce((inner: KubeJSON, name) => inner[name], defaults);
const turned = booleansIn(defaults).map((path): [string, Values] => [
  `${path}: ${!defaultOf(path)}`,
  merged(beside[path] ?? {}, nested(path, !defaultOf(path))),
]);

async function filesBelow(folder: string, ending: string): Promise<string[]> {
  const names = await readdir(join(root, folder), { recursive: true });
  return names.filter((name) => name.endsWith(ending)).map((name) => join(folder, name));
}

const isOfChart = (values: unknown): values is Values =>
  isObject(values) && Object.keys(values).length > 0 && Object.keys(values).every((name) => name in defaults);

/** The values of a page: those of its blocks, and those that its commands set. */
function valuesOfPage(text: string): Values[] {
  const blocks = [...text.matchAll(/^( *)```yaml\n([\s\S]*?)^\1```$/gm)].flatMap(([, , block = ""]) =>
    parseAllDocuments(block).map((document) => document.toJS()),
  );
  const commands = [...text.replaceAll(/\\\n/g, " ").matchAll(/^\$ helm .*$/gm)].map(([command]) => {
    const flags = [...command.matchAll(/--set (\S+?)=(\S+)/g)];
    return merged(...flags.map(([, path = "", value = ""]) => nested(path, parse(value))));
  });
  return [...blocks, ...commands].filter(isOfChart);
}

/** The values in a file of the examples: of a HelmRelease of Flux, and of an Application of Argo CD. */
const valuesOfExample = (text: string): Values[] =>
  parseAllDocuments(text)
    .map((document) => document.toJS() as KubeJSON)
    .flatMap((object) => [
      object?.kind === "HelmRelease" && object.spec.values,
      object?.kind === "Application" && object.spec.source?.helm?.valuesObject,
    ])
    .filter(isOfChart);

async function written(): Promise<[string, Values][]> {
  const pages = [
    "README.md",
    join("charts/tunnel-gateway-operator", "README.md"),
    ...(await filesBelow("docs", ".md")),
  ];
  const examples = await filesBelow("examples", ".yaml");
  const found: [string, Values][] = [];
  for (const [files, valuesOf] of [
    [pages, valuesOfPage],
    [examples, valuesOfExample],
  ] as const)
    for (const file of files)
      for (const values of valuesOf(await readFile(join(root, file), "utf8"))) found.push([file, values]);
  return found;
}

/** Values with which a pod may do more than the Pod Security Standard allows. */
const weaker = ["podSecurityContext.runAsNonRoot: false", "securityContext.allowPrivilegeEscalation: true"];
const strict = turned.filter(([name]) => !weaker.includes(name));

const sets: [string, Values][] = [
  ["by default", {}],
  ["with a proxy from a Secret", { proxy: { existingSecret: "proxy" } }],
  ["with another user", { podSecurityContext: { runAsUser: 1000, runAsGroup: 2000, fsGroup: 3000 } }],
  ["on another port", { metrics: { port: 9090 } }],
  ["with all turned that keeps to the standard", merged(...strict.map(([, values]) => values))],
  ...turned,
  ...(await written()),
];

let home: string;
let helm: Helm;
let image: Image;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "helm-"));
  [helm, image] = await Promise.all([helmFor({ home }), ownImage()]);
});
afterAll(() => rm(home, { recursive: true }));

/** The specs of all pods that the chart makes with these values. */
async function podsWith(values: Values): Promise<KubeJSON[]> {
  const file = join(home, "values.json");
  const base = nested("gateway.baseURL", "https://api.gateway.example");
  await writeFile(file, JSON.stringify(merged(base, nested("crds.enabled", false), values)));
  const objects = objectsIn(await succeeded(helm("template", "gateway", chart, "--values", file)));
  const pods = objects.map(({ kind, spec }) => (kind === "Pod" ? spec : spec?.template?.spec)).filter(Boolean);
  const expected = values["uninstall"]?.enabled === false ? ["doctor", "run"] : ["doctor", "run", "uninstall"];
  expect(pods.map(({ containers }) => containers[0].args[0]).sort()).toEqual(expected);
  return pods;
}

/** What the pages tell the reader to make. All else is optional. */
const sources = { secrets: {}, configMaps: { authorities: ["ca.crt"] } };

/** Pods that differ, without what is no matter of Pod Security. */
const seen = { strict: new Map<string, KubeJSON>(), weaker: new Map<string, KubeJSON>() };

test("there are values to try, of pages and examples, and booleans", () => {
  expect(turned.length).toBeGreaterThan(20);
  const files = new Set(sets.map(([name]) => name));
  for (const file of ["docs/install.md", "docs/scale.md", "docs/traces.md", "docs/uninstall.md"])
    expect(files).toContain(file);
  for (const file of ["argocd", "flux"]) expect(files).toContain(`examples/gitops/${file}/operator.yaml`);
});

describe("a node runs every pod of the chart", () => {
  test.each(sets)("%s", async (name, values) => {
    for (const spec of await podsWith(values)) {
      expect(refusalsOf(spec, { image, ...sources })).toEqual([]);
      const { containers, ...rest } = spec;
      const [{ env: _, ...container }] = containers;
      const pod = { ...rest, serviceAccountName: "default", containers: [container] };
      seen[weaker.includes(name) ? "weaker" : "strict"].set(JSON.stringify(pod), pod);
    }
  });
});

describe("and refuses it", () => {
  test("with a ConfigMap that nobody has made, in the words of a kubelet", async () => {
    const pods = await podsWith({ trustBundle: { configMap: "authorities" } });
    const refusals = pods.flatMap((spec) => refusalsOf(spec, { image }));
    // the Job before an uninstallation does not mount it
    expect(refusals).toHaveLength(2);
    expect(refusals[0]).toContain('MountVolume.SetUp failed for volume "trust": configmap "authorities" not found');
  });

  test("as it was: with a group of the image and without its user", async () => {
    for (const { securityContext, ...spec } of await podsWith({})) {
      const { runAsUser: _, ...without } = securityContext;
      expect(refusalsOf({ ...spec, securityContext: without }, { image })).toEqual([
        expect.stringContaining('user group "65532" is specified without user'),
      ]);
    }
  });
});

test("the stand-in for a kubelet lets a program write no file where the root is read-only", async () => {
  const { url } = inject("cluster");
  const simulator = await startSimulator();
  const container = {
    args: ["import", "--all", "--output", join(home, "manifests")],
    env: [
      { name: "GATEWAY_BASE_URL", value: simulator.url },
      { name: "GATEWAY_API_KEY", value: simulator.apiKey },
    ],
  };
  const spec = (readOnlyRootFilesystem: boolean) => ({
    serviceAccountName: "default",
    containers: [{ ...container, name: "import", securityContext: { readOnlyRootFilesystem } }],
  });
  const options = { kubectl: kubectlFor(inject("cluster")), server: url, namespace: "default" };
  for (const [isReadOnly, code] of [
    [true, 1],
    [false, 0],
  ] as const) {
    await using pod = await Pod.start({ ...options, spec: spec(isReadOnly) });
    expect(await pod.ended(), pod.output).toBe(code);
    expect(pod.output.includes("Access to this API has been restricted")).toBe(isReadOnly);
  }
  await simulator.stop();
});

describe("an API server that enforces the Pod Security Standard restricted", () => {
  const kubectl = kubectlFor(inject("cluster"));
  const manifest = (specs: readonly KubeJSON[]) =>
    JSON.stringify({
      apiVersion: "v1",
      kind: "List",
      items: specs.map((spec, index) => ({
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: `pod-${index}`, namespace: NAMESPACE },
        spec,
      })),
    });
  const admitted = (specs: readonly KubeJSON[]) =>
    kubectl(["create", "--dry-run=server", "-o", "name", "-f", "-"], { input: manifest(specs), allowFailure: true });

  beforeAll(async () => {
    await kubectl(["create", "namespace", NAMESPACE]);
    await kubectl(["label", "namespace", NAMESPACE, "pod-security.kubernetes.io/enforce=restricted"]);
    await kubectl(["wait", "--for=create", "serviceaccount/default", "-n", NAMESPACE, "--timeout=60s"]);
  });
  afterAll(() => kubectl(["delete", "namespace", NAMESPACE, "--wait=false"]));

  test("admits each of them", async () => {
    const specs = [...seen.strict.values()];
    expect(specs.length).toBeGreaterThan(3);
    const { stdout, stderr } = await admitted(specs);
    expect(stderr).toBe("");
    expect(stdout.trim().split("\n")).toHaveLength(specs.length);
  });

  test("refuses those with values that allow a pod more", async () => {
    const specs = [...seen.weaker.values()];
    expect(specs).toHaveLength(2 * 3);
    const { stdout, stderr } = await admitted(specs);
    expect(stdout).toBe("");
    expect(stderr.match(/violates PodSecurity "restricted/g)).toHaveLength(specs.length);
  });
});
