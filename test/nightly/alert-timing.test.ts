import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { prometheusPrograms, withoutPrometheus } from "../../tools/prometheus/programs.ts";
import { run } from "../../tools/shared/run.ts";
import { type Monitoring, renderMonitoring, scraped } from "../e2e/support/monitoring.ts";

const labels = (more: Readonly<Record<string, string>> = {}): string =>
  Object.entries({ ...scraped, pod: "one", ...more })
    .map(([name, value]) => `${name}="${value}"`)
    .join(",");

const series = (metric: string, values: string, more?: Readonly<Record<string, string>>) => ({
  series: `${metric}{${labels(more)}}`,
  values,
});

interface Case {
  readonly alert: string;
  readonly about: string;
  /** One value a minute, as promtool writes them: `1x20` is 1, and the same for 20 minutes more. */
  readonly input: readonly { series: string; values: string }[];
  /** Minutes after the start: when it does not fire yet, when it does, and when it has ended. */
  readonly quiet: readonly number[];
  readonly firing: readonly number[];
}

const requests = (code: string, values: string) =>
  series("tunnelgateway_remote_requests_total", values, { resource: "ip_policies", method: "GET", code });
const resources = (reason: string, ready: string, values: string) =>
  series("tunnelgateway_resources", values, { kind: "IPPolicy", ready, reason });
const shop = { kind: "TLSCertificate", object_namespace: "team-a", object_name: "shop" };

const certificate = (validDays: number, daysLeft: number, about: Readonly<Record<string, string>> = shop) => {
  const end = daysLeft * 86_400;
  return [
    series("tunnelgateway_certificate_expiry_timestamp_seconds", `${end}x120`, about),
    series("tunnelgateway_certificate_start_timestamp_seconds", `${end - validDays * 86_400}x120`, about),
  ];
};
const controller = { controller: "ippolicy" };
const reconciles = (result: string, values: string) =>
  series("controller_runtime_reconcile_total", values, { ...controller, result });

const cases: readonly Case[] = [
  {
    alert: "TunnelGatewayOperatorAbsent",
    about: "nothing is scraped for ten minutes",
    input: [series("rest_client_requests_total", "1x5 _x20 1x30", { code: "200" })],
    // a series that is missing counts as present for five minutes
    quiet: [5, 15, 27],
    firing: [22],
  },
  {
    alert: "TunnelGatewayOperatorNoLeader",
    about: "no replica leads for five minutes",
    input: [
      series("leader_election_master_status", "1x9 0x10 0x20"),
      series("leader_election_master_status", "0x9 0x10 1x20", { pod: "two" }),
    ],
    quiet: [14, 21],
    firing: [16, 19],
  },
  {
    alert: "TunnelGatewayWatchDisconnected",
    about: "a kind is not watched for five minutes",
    input: [series("tunnelgateway_watch_connected", "1x9 0x10 1x20", { kind: "IPPolicy" })],
    quiet: [14, 21],
    firing: [16, 19],
  },
  {
    alert: "TunnelGatewayObjectsStalled",
    about: "objects wait for a person for five minutes",
    input: [series("tunnelgateway_stalled_objects", "1x10 _x30", { kind: "IPPolicy", reason: "InvalidSpec" })],
    quiet: [4, 20],
    firing: [6],
  },
  {
    alert: "TunnelGatewayObjectsNotReady",
    about: "objects are not ready for 30 minutes",
    input: [resources("Pending", "False", "2x40 0x20")],
    quiet: [29, 45],
    firing: [31],
  },
  {
    alert: "TunnelGatewayUnauthorized",
    about: "a probe a minute is refused, for 15 minutes",
    input: [requests("401", "0x5 1+1x30 31x40")],
    quiet: [15, 60],
    firing: [25],
  },
  {
    alert: "TunnelGatewayUnauthorized",
    about: "one answer of 401 is none",
    input: [requests("401", "_x5 1x60")],
    quiet: [10, 20, 40, 60],
    firing: [],
  },
  {
    alert: "TunnelGatewayUnavailable",
    about: "more than a tenth of the requests fail, for 15 minutes",
    input: [requests("200", "0+4x90"), requests("unknown", "0x10 0+1x40 40x40")],
    quiet: [10, 20, 80],
    firing: [40],
  },
  {
    alert: "TunnelGatewayUnavailable",
    about: "a twentieth of them may fail",
    input: [requests("200", "0+19x90"), requests("503", "0+1x90")],
    quiet: [30, 60, 90],
    firing: [],
  },
  {
    alert: "TunnelGatewayReconcileErrors",
    about: "more than a tenth of the reconciles fail",
    input: [reconciles("success", "0+4x90"), reconciles("error", "0x10 0+1x40 40x40")],
    quiet: [10, 20, 80],
    firing: [40],
  },
  {
    alert: "TunnelGatewayQueueGrowing",
    about: "a long queue grows for 30 minutes",
    input: [series("workqueue_depth", "51+1x50 0x40", { ...controller, priority: "0" })],
    quiet: [25, 70],
    firing: [40],
  },
  {
    alert: "TunnelGatewayQueueGrowing",
    about: "a long queue that shrinks is no trouble",
    input: [series("workqueue_depth", "500-1x90", { ...controller, priority: "0" })],
    quiet: [40, 60, 90],
    firing: [],
  },
  {
    alert: "TunnelGatewayQueueStuck",
    about: "keys wait, and no reconcile has ended for 15 minutes",
    input: [
      series("workqueue_depth", "1x90", { ...controller, priority: "0" }),
      reconciles("success", "0+1x20 20x30 20+1x40"),
    ],
    quiet: [20, 35, 60],
    firing: [45],
  },
  {
    alert: "TunnelGatewayQueueStuck",
    about: "nothing waits in an operator that is idle",
    input: [series("workqueue_depth", "0x90", { ...controller, priority: "0" }), reconciles("success", "7x90")],
    quiet: [30, 60, 90],
    firing: [],
  },
  {
    alert: "TunnelGatewayStuckPass",
    about: "a reconcile was aborted after 15 minutes",
    input: [series("controller_runtime_reconcile_timeouts_total", "0x10 1x50", controller)],
    quiet: [9, 40],
    firing: [12],
  },
  {
    alert: "TunnelGatewayStuckPass",
    about: "a reconcile goes on after it was aborted",
    input: [series("workqueue_longest_running_processor_seconds", "0+60x17 0x20", controller)],
    quiet: [15, 20],
    firing: [16],
  },
  {
    alert: "TunnelGatewayForbidden",
    about: "Kubernetes refuses requests for 15 minutes",
    input: [series("rest_client_requests_total", "0x5 1+1x30 31x40", { code: "403" })],
    quiet: [15, 60],
    firing: [25],
  },
  {
    alert: "TunnelGatewayCertificateExpiring",
    about: "13 of 90 days are left, for an hour",
    input: certificate(90, 13),
    quiet: [55],
    firing: [65],
  },
  {
    alert: "TunnelGatewayCertificateExpiring",
    about: "a certificate for seven days has half of them left",
    input: certificate(7, 3.5),
    quiet: [65, 100],
    firing: [],
  },
  {
    alert: "TunnelGatewayCertificateEnding",
    about: "2 of 90 days are left, for an hour",
    input: certificate(90, 2),
    quiet: [55],
    firing: [65],
  },
  {
    alert: "TunnelGatewayCertificateEnding",
    about: "13 of 90 days are too many",
    input: certificate(90, 13),
    quiet: [65, 100],
    firing: [],
  },
  {
    alert: "TunnelGatewayCertificateExpiring",
    about: "a certificate without an object, 13 of 90 days are left",
    input: certificate(90, 13, { kind: "TLSCertificate", account: "" }),
    quiet: [55],
    firing: [65],
  },
  {
    alert: "TunnelGatewayCertificateNotRenewed",
    about: "a renewal was due two days ago, for an hour",
    input: [
      series("tunnelgateway_certificate_renewal_timestamp_seconds", `${-2 * 86_400 + 600}x120 ${60 * 86_400}x20`, shop),
    ],
    quiet: [65, 125],
    firing: [75],
  },
  {
    alert: "TunnelGatewayCertificateRenewalFailing",
    about: "a renewal fails for an hour",
    input: [resources("CertificateRenewalFailing", "True", "1x70 0x20")],
    quiet: [59, 75],
    firing: [61],
  },
  {
    alert: "TunnelGatewayInventoryOld",
    about: "no list for three intervals, and five minutes more",
    input: [
      series("tunnelgateway_inventory_age_seconds", "0+60x30 0x10", { account: "", resource: "ip_policies" }),
      series("tunnelgateway_resync_interval_seconds", "300x60"),
    ],
    quiet: [15, 20, 35],
    firing: [22],
  },
  {
    alert: "TunnelGatewayDriftCorrected",
    about: "the first correction of a process, for an hour",
    input: [series("tunnelgateway_drift_corrections_total", "_x9 1x110", { kind: "IPPolicy", field: "description" })],
    quiet: [5, 75],
    firing: [10, 60],
  },
  {
    alert: "TunnelGatewayDriftCorrected",
    about: "a later correction, for an hour",
    input: [series("tunnelgateway_drift_corrections_total", "3x79 4x100", { kind: "IPPolicy", field: "description" })],
    quiet: [75, 145],
    firing: [82, 130],
  },
  {
    alert: "TunnelGatewayDriftLeft",
    about: "an object differs for 30 minutes",
    input: [
      series("tunnelgateway_drifted_objects", "1x40 0x20", {
        kind: "IPPolicy",
        reason: "RemoteDiffers",
        field: "description",
      }),
    ],
    quiet: [29, 45],
    firing: [31],
  },
];

const programs = await prometheusPrograms();

describe.skipIf(!programs)(`promtool ${programs ? "" : withoutPrometheus}`, () => {
  let directory: string;
  let monitoring: Monitoring;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "rules-"));
    monitoring = await renderMonitoring();
    // JSON is YAML as well
    await writeFile(
      join(directory, "rules.yaml"),
      JSON.stringify({ groups: [{ name: "a", rules: monitoring.rules }] }),
    );
  });
  afterAll(() => rm(directory, { recursive: true }));

  const promtool = async (...args: string[]): Promise<{ code: number; output: string }> => {
    const { code, stdout, stderr } = await run(programs?.promtool ?? "", args, { cwd: directory });
    return { code, output: stdout + stderr };
  };

  /** Runs the cases in one process, and resolves with what is wrong. */
  async function failures(given: readonly Case[]): Promise<string> {
    const file = join(directory, "tests.yaml");
    const tests = given.map(({ alert, about, input, quiet, firing }) => ({
      name: `${alert}: ${about}`,
      interval: "1m",
      input_series: input,
      promql_expr_test: [
        ...quiet.map((minute) => ({ minute, samples: 0 })),
        ...firing.map((minute) => ({ minute, samples: 1 })),
      ].map(({ minute, samples }) => ({
        expr: `count(ALERTS{alertname="${alert}",alertstate="firing"}) or vector(0)`,
        eval_time: `${minute}m`,
        exp_samples: [{ labels: "{}", value: samples }],
      })),
    }));
    await writeFile(file, JSON.stringify({ rule_files: ["rules.yaml"], evaluation_interval: "1m", tests }));
    const { code, output } = await promtool("test", "rules", file);
    return code === 0 ? "" : output;
  }

  test("has nothing to say about the rules", async () => {
    const { code, output } = await promtool("check", "rules", "--lint-fatal", "rules.yaml");
    expect(output).toContain(`SUCCESS: ${monitoring.rules.length} rules found`);
    expect(code).toBe(0);
  });

  test("finds that every alert fires and ends at its time", async () => {
    const fire = cases.filter(({ firing, quiet }) => firing.length > 0 && quiet.length > 0);
    const tested = new Set(fire.map(({ alert }) => alert));
    expect([...tested].sort()).toEqual(monitoring.rules.map(({ alert }) => alert).sort());
    expect(await failures(cases)).toBe("");
  });

  test("fails when an alert does not fire at its time", async () => {
    const [first] = cases as [Case];
    expect(await failures([{ ...first, quiet: [], firing: first.quiet }])).toContain(first.alert);
  });
});
