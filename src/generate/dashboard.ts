/** One or more lines of a panel: a PromQL expression, and the legend of its series. */
interface Query {
  readonly expr: string;
  readonly legend: string;
}

interface Panel {
  readonly title: string;
  readonly about: string;
  readonly unit: "short" | "s" | "bytes" | "reqps" | "ops" | "cpm";
  /** Whether areas are stacked, for series whose sum has a meaning. */
  readonly stacked?: boolean;
  readonly queries: readonly Query[];
}

interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

const of = (metric: string, ...labels: string[]): string =>
  `${metric}{${['namespace="$namespace"', ...labels].join(",")}}`;

const rate = (metric: string, ...labels: string[]): string => `rate(${of(metric, ...labels)}[$__rate_interval])`;

const quantile = (share: number, histogram: string, by: string): string =>
  `histogram_quantile(${share}, sum by (${by}) (${rate(`${histogram}_bucket`)}))`;

/** Every replica counts all objects, so the maximum over replicas is the number of objects. */
const objects = (by: string): string =>
  `sum by (${by}) (max by (kind, ready, reason) (${of("tunnelgateway_resources")}))`;

const query = (legend: string, expr: string): Query => ({ legend, expr });

const rows: readonly Row[] = [
  {
    title: "What needs a person",
    panels: [
      {
        title: "Stalled objects",
        about: "They get no better until a person changes something. Their messages begin with what to do.",
        unit: "short",
        stacked: true,
        queries: [query("{{kind}} {{reason}}", `max by (kind, reason) (${of("tunnelgateway_stalled_objects")})`)],
      },
      {
        title: "Objects that are not ready",
        about: "Stalled ones, and those that the operator still works on.",
        unit: "short",
        stacked: true,
        queries: [
          query("{{kind}} {{reason}}", `max by (kind, reason) (${of("tunnelgateway_resources", 'ready!="True"')})`),
        ],
      },
      {
        title: "Alerts that fire",
        about: "Alerts of the chart. The page on alerts says what to do.",
        unit: "short",
        stacked: true,
        queries: [
          query("{{alertname}}", 'count by (alertname) (ALERTS{alertname=~"TunnelGateway.+",alertstate="firing"})'),
        ],
      },
    ],
  },
  {
    title: "Objects",
    panels: [
      {
        title: "Objects by kind",
        about: "Also those that were never reconciled.",
        unit: "short",
        stacked: true,
        queries: [query("{{kind}}", objects("kind"))],
      },
      {
        title: "Objects by reason",
        about: "By the reason of the condition Ready.",
        unit: "short",
        stacked: true,
        queries: [query("{{reason}}", objects("reason"))],
      },
      {
        title: "Reconciles by result",
        about: "Errors are in the log of the operator.",
        unit: "ops",
        stacked: true,
        queries: [query("{{result}}", `sum by (result) (${rate("controller_runtime_reconcile_total")})`)],
      },
    ],
  },
  {
    title: "Requests to the service",
    panels: [
      {
        title: "Requests a minute by lane, and the budget",
        about: "The budget is that of one account. Several accounts together may get more.",
        unit: "cpm",
        queries: [
          query("{{lane}}", `60 * sum by (lane) (${rate("tunnelgateway_request_budget_used_total")})`),
          query("budget", `max(${of("tunnelgateway_request_budget_per_minute")})`),
        ],
      },
      {
        title: "Time spent waiting for a turn, by lane",
        about: "Seconds that requests waited, per second.",
        unit: "s",
        queries: [query("{{lane}}", `sum by (lane) (${rate("tunnelgateway_remote_throttled_seconds_total")})`)],
      },
      {
        title: "Too many requests (429)",
        about: "How many requests the service has refused since the start, because there were too many.",
        unit: "short",
        queries: [
          query(
            "{{resource}} {{method}}",
            `sum by (resource, method) (${of("tunnelgateway_remote_requests_total", 'code="429"')})`,
          ),
        ],
      },
      {
        title: "Requests by code",
        about: "unsent: the request never left. unknown: there was no answer.",
        unit: "reqps",
        stacked: true,
        queries: [query("{{code}}", `sum by (code) (${rate("tunnelgateway_remote_requests_total")})`)],
      },
      {
        title: "Duration of requests, 95th percentile",
        about: "Without the wait for their turn.",
        unit: "s",
        queries: [query("{{method}}", quantile(0.95, "tunnelgateway_remote_request_duration_seconds", "le, method"))],
      },
    ],
  },
  {
    title: "From edit to synced",
    panels: [
      {
        title: "Time from edit to synced",
        about: "From when the operator sees a new object or a changed spec until the account has it.",
        unit: "s",
        queries: [0.5, 0.95, 0.99].map((share) =>
          query(`${share * 100} %`, quantile(share, "tunnelgateway_sync_duration_seconds", "le")),
        ),
      },
      {
        title: "Edits that were synced, a minute",
        about: "How many edits the panel of times has measured.",
        unit: "cpm",
        queries: [query("edits", `60 * sum(${rate("tunnelgateway_sync_duration_seconds_count")})`)],
      },
    ],
  },
  {
    title: "Drift",
    panels: [
      {
        title: "Drift put right",
        about: "How many fields the operator has put right since its start. id: the remote was gone.",
        unit: "short",
        queries: [query("{{kind}} {{field}}", `sum by (kind, field) (${of("tunnelgateway_drift_corrections_total")})`)],
      },
      {
        title: "Drift left",
        about: "Objects that differ from the account and are left so, by field.",
        unit: "short",
        stacked: true,
        queries: [
          query(
            "{{kind}} {{field}}: {{reason}}",
            `max by (kind, reason, field) (${of("tunnelgateway_drifted_objects")})`,
          ),
        ],
      },
      {
        title: "Age of the inventory",
        about: "How long ago each resource was listed. Older than RESYNC_INTERVAL: lists wait or fail.",
        unit: "s",
        queries: [
          query(
            "{{account}} {{resource}}",
            `max by (account, resource) (${of("tunnelgateway_inventory_age_seconds")})`,
          ),
        ],
      },
    ],
  },
  {
    title: "Certificates",
    panels: [
      {
        title: "Certificates that end first, time left",
        about: "The ten certificates that end first. Those without an object have the name of their account.",
        unit: "s",
        queries: [
          query(
            "{{kind}} {{object_namespace}}/{{object_name}} {{account}}",
            `bottomk(10, min by (kind, object_namespace, object_name, account) (${of("tunnelgateway_certificate_expiry_timestamp_seconds")} - time()))`,
          ),
        ],
      },
      {
        title: "Certificates that are missing or not renewed",
        about: "Objects whose certificate the service cannot issue or renew, by reason.",
        unit: "short",
        stacked: true,
        queries: [
          query(
            "{{kind}} {{reason}}",
            `max by (kind, reason) (${of("tunnelgateway_resources", 'reason=~"Certificate.+"')})`,
          ),
        ],
      },
    ],
  },
  {
    title: "API server and queue",
    panels: [
      {
        title: "Requests to the Kubernetes API by code",
        about: "Of all replicas. A watch counts once, when it begins.",
        unit: "reqps",
        stacked: true,
        queries: [query("{{code}}", `sum by (code) (${rate("rest_client_requests_total")})`)],
      },
      {
        title: "Queue depth",
        about: "Keys that are due and wait for a worker.",
        unit: "short",
        stacked: true,
        queries: [query("{{controller}}", `sum by (controller) (${of("workqueue_depth")})`)],
      },
      {
        title: "Longest running reconcile",
        about: "A reconcile is aborted after 15 minutes.",
        unit: "s",
        queries: [
          query("{{controller}}", `max by (controller) (${of("workqueue_longest_running_processor_seconds")})`),
        ],
      },
      {
        title: "Wait in the queue, 95th percentile",
        about: "From when a key is due until a worker takes it.",
        unit: "s",
        queries: [query("{{controller}}", quantile(0.95, "workqueue_queue_duration_seconds", "le, controller"))],
      },
    ],
  },
  {
    title: "Process",
    panels: [
      {
        title: "Leader",
        about: "1 for the replica that leads. Without leader election there is no line.",
        unit: "short",
        queries: [query("{{pod}}", of("leader_election_master_status"))],
      },
      {
        title: "Kinds that are watched",
        about: "0: at least one replica does not watch this kind.",
        unit: "short",
        queries: [query("{{kind}}", `min by (kind) (${of("tunnelgateway_watch_connected")})`)],
      },
      {
        title: "Memory",
        about: "Of each replica.",
        unit: "bytes",
        queries: [
          query("{{pod}} resident", of("process_resident_memory_bytes")),
          query("{{pod}} heap", of("nodejs_heap_size_used_bytes")),
        ],
      },
      {
        title: "Event loop lag, 99th percentile",
        about: "The operator is busy while this is high.",
        unit: "s",
        queries: [query("{{pod}}", of("nodejs_eventloop_lag_p99_seconds"))],
      },
    ],
  },
];

const WIDTH = 24;
const HEIGHT = 8;
const PER_LINE = 3;

const datasource = { type: "prometheus", uid: "$datasource" };

const panelOf = ({ title, about, unit, stacked = false, queries }: Panel) => ({
  title,
  description: about,
  type: "timeseries",
  datasource,
  fieldConfig: {
    defaults: {
      unit,
      ...(stacked && { min: 0 }),
      custom: { stacking: { mode: stacked ? "normal" : "none" }, ...(stacked && { fillOpacity: 30 }) },
    },
    overrides: [],
  },
  targets: queries.map(({ expr, legend }, index) => ({
    refId: String.fromCharCode("A".charCodeAt(0) + index),
    expr,
    legendFormat: legend,
  })),
});

/** Panels in Grafana's form: one flat list, each row before its panels, with positions in a grid. */
function placed(): object[] {
  let [id, y] = [0, 0];
  return rows.flatMap(({ title, panels }) => {
    const row = {
      id: ++id,
      title,
      type: "row",
      collapsed: false,
      gridPos: { x: 0, y: y++, w: WIDTH, h: 1 },
      panels: [],
    };
    const inside = panels.map((panel, index) => {
      const line = Math.floor(index / PER_LINE);
      const w = WIDTH / Math.min(PER_LINE, panels.length - line * PER_LINE);
      const gridPos = { x: (index % PER_LINE) * w, y: y + line * HEIGHT, w, h: HEIGHT };
      return { id: ++id, gridPos, ...panelOf(panel) };
    });
    y += Math.ceil(panels.length / PER_LINE) * HEIGHT;
    return [row, ...inside];
  });
}

/** The dashboard of the chart, as Grafana imports it. */
export const dashboard = () => ({
  uid: "tunnel-gateway-operator",
  title: "Tunnel gateway operator",
  tags: ["tunnel-gateway-operator"],
  schemaVersion: 39,
  timezone: "",
  refresh: "30s",
  time: { from: "now-6h", to: "now" },
  templating: {
    list: [
      { name: "datasource", type: "datasource", query: "prometheus", label: "Data source" },
      {
        name: "namespace",
        type: "query",
        label: "Namespace",
        datasource,
        refresh: 2,
        query: { query: "label_values(tunnelgateway_resources, namespace)", refId: "namespace" },
      },
    ],
  },
  panels: placed(),
});
