import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KubeJSON } from "../../../tools/shared/objects.ts";
import { chart, helmFor, objectsIn, set, succeeded } from "./helm.ts";

/** The labels that a scrape in a cluster adds, and that the rules of the chart ask for. */
export const scraped = { namespace: "operator", container: "operator" } as const;

export interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** A query of the dashboard, for the namespace of the release. Its rates look back `[$__rate_interval]`. */
export interface DashboardQuery {
  readonly panel: string;
  readonly expr: string;
}

export interface Monitoring {
  readonly rules: readonly Rule[];
  readonly queries: readonly DashboardQuery[];
}

/** The alerts and the dashboard as Helm renders them. */
export async function renderMonitoring(): Promise<Monitoring> {
  const home = await mkdtemp(join(tmpdir(), "helm-"));
  try {
    const helm = await helmFor({ home });
    const values = set({
      "gateway.baseURL": "https://api.gateway.example",
      "metrics.renderMode": "alwaysRender",
      "metrics.prometheusRule.enabled": true,
      "metrics.grafanaDashboard.enabled": true,
    });
    const only = ["--show-only", "templates/monitoring.yaml"];
    const namespace = ["--namespace", scraped.namespace];
    const objects = objectsIn(await succeeded(helm("template", "gateway", chart, ...namespace, ...values, ...only)));
    const find = (kind: string): KubeJSON => objects.find((object) => object.kind === kind);
    const { panels } = JSON.parse(find("ConfigMap").data["tunnel-gateway-operator.json"]);
    return {
      rules: find("PrometheusRule").spec.groups.flatMap(({ rules }: KubeJSON) => rules),
      queries: panels.flatMap(({ title, targets = [] }: KubeJSON) =>
        targets.map(({ expr }: KubeJSON) => ({
          panel: title,
          expr: expr.replaceAll("$namespace", scraped.namespace),
        })),
      ),
    };
  } finally {
    await rm(home, { recursive: true });
  }
}
