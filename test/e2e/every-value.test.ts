import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { variables } from "../../src/config.ts";
import type { KubeJSON } from "../../tools/shared/objects.ts";
import { chart, objectsIn, succeeded, useHelm } from "./support/helm.ts";
import { effects } from "./support/value-effects.ts";

/** Every value of the chart has an effect, and it is the one that `effects` names. */
const helm = useHelm();

type Values = Readonly<Record<string, unknown>>;

const monitoring: Values = {
  "metrics.renderMode": "alwaysRender",
  "metrics.serviceMonitor.enabled": true,
  "metrics.podMonitor.enabled": true,
  "metrics.prometheusRule.enabled": true,
  "metrics.grafanaDashboard.enabled": true,
};

/** What has to be set beside the values that begin like this, so that they have an effect. The longest one counts. */
const beside: Readonly<Record<string, Values>> = {
  metrics: monitoring,
  "metrics.renderMode": { "metrics.serviceMonitor.enabled": true },
  "metrics.serviceMonitor.enabled": { "metrics.renderMode": "alwaysRender" },
  "metrics.podMonitor.enabled": { "metrics.renderMode": "alwaysRender" },
  "metrics.prometheusRule.enabled": { "metrics.renderMode": "alwaysRender" },
  "metrics.grafanaDashboard.enabled": {},
  networkPolicy: { "networkPolicy.enabled": true },
  "networkPolicy.enabled": {},
  podDisruptionBudget: { replicaCount: 2 },
  "trustBundle.key": { "trustBundle.configMap": "authorities" },
  "proxy.noProxy": { "proxy.https": "http://proxy.example:3128" },
  "credentials.key": { "credentials.existingSecret": "key" },
  crds: { "crds.enabled": true },
  "externalDNS.enabled": { "externalDNS.namespaces": ["team-a"] },
  "externalDNS.optIn": { "externalDNS.namespaces": ["team-a"] },
  "rbac.namespaceDeletion": { watchNamespaces: ["team-a"] },
  leaderElection: { strategy: { type: "Recreate" } },
};

/** Another value than the default, where that is neither the opposite nor a number that is one higher. */
const another: Readonly<Record<string, unknown>> = {
  "gateway.baseURL": "https://other.example",
  "gateway.requestTimeout": "40s",
  "gateway.resyncInterval": "6m",
  "gateway.sessionSyncInterval": "40s",
  "gateway.allowedHosts": ["api.example"],
  "adoption.namespaces": ["team-a"],
  "externalDNS.namespaces": ["team-a"],
  "secrets.writeNamespaces": ["team-a"],
  "dns.resolvers": ["10.0.0.10"],
  watchNamespaces: ["team-a"],
  watchSelector: "team=a",
  formerClusterIDs: ["old"],
  "image.digest": `sha256:${"a".repeat(64)}`,
  "image.pullPolicy": "Always",
  imagePullSecrets: [{ name: "registry" }],
  dnsPolicy: "Default",
  dnsConfig: { options: [{ name: "ndots", value: "1" }] },
  hostAliases: [{ ip: "10.0.0.1", hostnames: ["api.gateway.example"] }],
  "resources.requests.cpu": "70m",
  "resources.requests.memory": "200Mi",
  "resources.limits.memory": "600Mi",
  "uninstall.policy": "delete",
  "uninstall.timeout": "20m",
  "metrics.renderMode": "alwaysRender",
  "metrics.serviceMonitor.interval": "45s",
  "metrics.podMonitor.interval": "45s",
  "metrics.serviceMonitor.relabelings": [{ action: "labeldrop", regex: "x" }],
  "metrics.podMonitor.relabelings": [{ action: "labeldrop", regex: "x" }],
  "metrics.prometheusRule.runbookURL": "https://runbooks.example",
  "metrics.prometheusRule.extraRules": [{ alert: "Mine", expr: "vector(1)" }],
  logLevel: "debug",
  "tracing.otlpEndpoint": "http://collector:4318",
  "proxy.http": "http://proxy.example:3128",
  "proxy.https": "http://proxy.example:3128",
  "proxy.noProxy": "internal.example",
  "networkPolicy.metricsFrom": [{ podSelector: {} }],
  "networkPolicy.extraEgress": [{ ports: [{ port: 8443 }] }],
  "nodeSelector.kubernetes.io/os": "windows",
  tolerations: [{ operator: "Exists" }],
  affinity: { nodeAffinity: {} },
  topologySpreadConstraints: [{ maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "ScheduleAnyway" }],
  "podSecurityContext.seccompProfile.type": "Unconfined",
  "securityContext.capabilities.drop": ["NET_RAW"],
  strategy: { type: "Recreate" },
  extraEnv: [{ name: "MINE", value: "1" }],
  extraEnvFrom: [{ secretRef: { name: "mine" } }],
  extraVolumes: [{ name: "mine", emptyDir: {} }],
  extraVolumeMounts: [{ name: "mine", mountPath: "/mine" }],
  extraObjects: [{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "mine" } }],
};

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The paths of all values, with their defaults. An empty map is a value: its members are the user's. */
const leaves = (value: unknown, path = ""): [path: string, value: unknown][] =>
  isMap(value) && Object.keys(value).length > 0
    ? Object.entries(value).flatMap(([name, one]) => leaves(one, path ? `${path}.${name}` : name))
    : [[path, value]];

function differentFrom(path: string, value: unknown): unknown {
  if (path in another) return another[path];
  if (typeof value === "boolean") return !value;
  if (typeof value === "number") return value + 1;
  if (typeof value === "string") return "mine";
  if (isMap(value)) return { mine: "mine" };
  throw new Error(`Say in \`another\` which value ${path} may have beside its default`);
}

function valuesBeside(path: string): Values {
  const fitting = Object.keys(beside).filter((prefix) => path === prefix || path.startsWith(`${prefix}.`));
  return beside[fitting.sort((one, other) => other.length - one.length)[0] ?? ""] ?? {};
}

const flagOf = ([path, value]: [string, unknown]): string[] => {
  const key = path.replace("kubernetes.io/os", "kubernetes\\.io/os");
  return ["--set-json", `${key}=${JSON.stringify(value)}`];
};

async function render(values: Values): Promise<KubeJSON[]> {
  const all = { "gateway.baseURL": "https://api.gateway.example", "crds.enabled": false, ...values };
  const flags = Object.entries(all).flatMap(flagOf);
  return objectsIn(await succeeded(helm("template", "gateway", chart, "--namespace", "operator", ...flags)));
}

const variablesIn = (objects: readonly KubeJSON[]): KubeJSON[] =>
  objects.find(({ kind }) => kind === "Deployment")?.["spec"].template.spec.containers[0].env ?? [];

/** What stands at a place, as JSON; see `effects`. Without a path, how many such objects there are. */
function at(objects: readonly KubeJSON[], place: string): string {
  const [kind, ...rest] = place.split(" ");
  const path = rest.find((part) => part.startsWith("/"));
  const name = rest.find((part) => part !== path);
  const found = objects.filter((one) => one.kind === kind && (name === undefined || one.metadata.name === name));
  if (path === undefined) return String(found.length);
  const keys = path.slice(1).split("/");
  return jsonOf(keys.reduce((value, key) => value?.[key.replaceAll("~1", "/")], found[0]));
}

/** With the members in one order. */
const jsonOf = (value: unknown): string =>
  JSON.stringify(value, (_, one) => (isMap(one) ? Object.fromEntries(Object.entries(one).sort()) : one)) ?? "";

/** The JSON of a value, as it stands in that of a larger one. */
const inner = (value: unknown): string => jsonOf(value).replace(/^[[{"]+|[\]}"]+$/g, "");

/** Why a value has not the effect that is said of it. */
async function problemOf(path: string, value: unknown, before: KubeJSON[], after: KubeJSON[]): Promise<string[]> {
  const effect = effects[path] ?? "";
  if (effect.endsWith(".test.ts")) {
    const text = await readFile(join(import.meta.dirname, effect), "utf8");
    return text.includes(path) ? [] : [`${path} is not used in ${effect}`];
  }
  if (/^[A-Z_]+$/.test(effect)) {
    const [one, other] = [before, after].map((all) =>
      JSON.stringify(variablesIn(all).filter((env) => env.name === effect)),
    );
    return variables.includes(effect) && one !== other ? [] : [`${path} does not set ${effect}`];
  }
  const [one = "", other = ""] = [before, after].map((all) => at(all, effect));
  const isThere = effect.includes("/") ? other.includes(inner(value)) : one !== other;
  return isThere && one !== other ? [] : [`${path} is not at ${effect}: ${other}`];
}

test("every value has the effect that is said of it", async () => {
  const defaults = leaves(parse(await readFile(join(chart, "values.yaml"), "utf8")));
  expect(defaults.map(([path]) => path).sort()).toEqual(Object.keys(effects).sort());
  const problems: string[] = [];
  const rendered = new Map<string, Promise<KubeJSON[]>>();
  for (const [path, value] of defaults) {
    const others = valuesBeside(path);
    const key = JSON.stringify(others);
    const before = rendered.get(key) ?? render(others);
    rendered.set(key, before);
    try {
      const another = differentFrom(path, value);
      problems.push(...(await problemOf(path, another, await before, await render({ ...others, [path]: another }))));
    } catch (error) {
      problems.push(`${path}: ${error}`);
    }
  }
  expect(problems).toEqual([]);
});

test("what is said here of values is about values that the chart has", async () => {
  const paths = leaves(parse(await readFile(join(chart, "values.yaml"), "utf8"))).map(([path]) => path);
  const unknown = Object.keys(another).filter((path) => !paths.includes(path));
  expect(unknown).toEqual([]);
});
