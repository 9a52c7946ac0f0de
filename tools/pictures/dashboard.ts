import type { Prometheus, Series } from "../prometheus/prometheus.ts";
import type { Chart } from "./chart.ts";

export interface Row {
  readonly title: string;
  readonly charts: readonly Chart[];
}

export type Span = Parameters<Prometheus["range"]>[1];

/** The parts of a dashboard of Grafana that the pictures show. */
interface Dashboard {
  readonly panels: readonly Panel[];
}

interface Panel {
  readonly title: string;
  readonly type: string;
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
  readonly fieldConfig?: {
    readonly defaults: { readonly unit: string; readonly custom: { readonly stacking: { readonly mode: string } } };
  };
}

interface Variables {
  readonly namespace: string;
  readonly rateWindow: string;
}

/** The rows of a dashboard with what Prometheus has seen. */
export async function rowsOf(
  { panels }: Dashboard,
  prometheus: Pick<Prometheus, "range">,
  span: Span,
  { namespace, rateWindow }: Variables,
): Promise<Row[]> {
  const rows: { title: string; charts: Chart[] }[] = [];
  for (const { title, type, targets = [], fieldConfig } of panels) {
    if (type === "row") rows.push({ title, charts: [] });
    else {
      const answers = await Promise.all(
        targets.map(async ({ expr, legendFormat }) => {
          const asked = expr.replaceAll("$namespace", namespace).replaceAll("$__rate_interval", rateWindow);
          const series = await prometheus.range(asked, span);
          return series.map(({ labels, values }) => ({ name: nameOf(legendFormat, labels), values }));
        }),
      );
      const stacked = fieldConfig?.defaults.custom.stacking.mode === "normal";
      const unit = fieldConfig?.defaults.unit ?? "short";
      rows.at(-1)?.charts.push({ title, unit, stacked, lines: answers.flat(), ...span });
    }
  }
  return rows;
}

/** `{{kind}} {{reason}}` with the labels of a series. */
export const nameOf = (legend: string, labels: Series["labels"]): string =>
  legend.replaceAll(/\{\{(\w+)\}\}/g, (_, label: string) => labels[label] ?? "").trim();
