import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { chart, succeeded, useHelm } from "./support/helm.ts";

/** Every value of the chart changes what Helm renders, so that none is written down in vain. */
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

function render(values: Values): Promise<string> {
  const all = { "gateway.baseURL": "https://api.gateway.example", "crds.enabled": false, ...values };
  return succeeded(
    helm("template", "gateway", chart, "--namespace", "operator", ...Object.entries(all).flatMap(flagOf)),
  );
}

test("every value changes what is rendered", async () => {
  const defaults = leaves(parse(await readFile(join(chart, "values.yaml"), "utf8")));
  expect(defaults.length).toBeGreaterThan(100);
  const without: string[] = [];
  const rendered = new Map<string, Promise<string>>();
  for (const [path, value] of defaults) {
    const others = valuesBeside(path);
    const key = JSON.stringify(others);
    const before = rendered.get(key) ?? render(others);
    rendered.set(key, before);
    try {
      const after = await render({ ...others, [path]: differentFrom(path, value) });
      if ((await before) === after) without.push(path);
    } catch (error) {
      without.push(`${path}: ${error}`);
    }
  }
  expect(without).toEqual([]);
}, 600_000);

test("what is said here of values is about values that the chart has", async () => {
  const paths = leaves(parse(await readFile(join(chart, "values.yaml"), "utf8"))).map(([path]) => path);
  const unknown = Object.keys(another).filter((path) => !paths.includes(path));
  expect(unknown).toEqual([]);
});
