import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { annotations } from "../../src/schema/contract.ts";
import { prometheusPrograms, withoutPrometheus } from "../../tools/prometheus/programs.ts";
import { Prometheus, type Series } from "../../tools/prometheus/prometheus.ts";
import { examples } from "../../tools/shared/examples.ts";
import { conditionOf, isReady, manifest } from "../../tools/shared/objects.ts";
import { run } from "../../tools/shared/run.ts";
import { ClusterGate, Gate, type Substitute } from "../support/gate.ts";
import { managedKinds } from "../support/kube.ts";
import { OperatorProcess } from "../support/operator-process.ts";
import { tlsSecret } from "../support/samples.ts";
import { useWorld } from "../support/world.ts";
import { type Monitoring, type Rule, renderMonitoring, scraped } from "./support/monitoring.ts";

/** Everything that the test waits for comes within seconds. This is for a machine that is busy. */
const PATIENCE_SECONDS = 90;

const WINDOW_SECONDS = 10;

/** Series that Prometheus makes itself, with the labels of the operator. */
const OF_PROMETHEUS = "ALERTS.*|up|scrape_.+";

const LEASE = "tunnel-gateway-operator";

/**
 * The rules of the chart, made quick: an alert fires without waiting (`for`), rates look back ten seconds instead of
 * 15 minutes or an hour, and a reconcile is stuck after three seconds instead of 15 minutes. alert-timing.test.ts tests
 * the times that the chart has.
 */
const quick = ({ for: _, ...rule }: Rule): Rule => ({
  ...rule,
  expr: rule.expr
    .replaceAll(/\[(?:15m|1h)\]/g, `[${WINDOW_SECONDS}s]`)
    .replaceAll("offset 1h", `offset ${WINDOW_SECONDS}s`)
    .replaceAll("> 900", "> 3"),
});

const programs = await prometheusPrograms();

describe.skipIf(!programs)(`a real Prometheus ${programs ? "" : withoutPrometheus}`, () => {
  const world = useWorld({ startOperator: false });
  const control = () => world.simulator.control;

  let monitoring: Monitoring;
  let prometheus: Prometheus;
  let cluster: ClusterGate;
  let service: Gate;
  const replicas = new Map<string, OperatorProcess>();
  let isClosing = false;
  const begun = Date.now() / 1000;

  beforeAll(async () => {
    if (!programs) return;
    monitoring = await renderMonitoring();
    const groups = [{ name: "operator", rules: monitoring.rules.map(quick) }];
    prometheus = await Prometheus.start(programs, { groups });
    cluster = await ClusterGate.beforeCluster(world.cluster.kubeconfig);
    service = await Gate.before(world.simulator.url);
  });

  afterAll(async () => {
    isClosing = true;
    await Promise.all([...replicas.values()].map((replica) => replica.stop("SIGKILL")));
    await Promise.all([prometheus?.stop(), cluster?.close(), service?.close()]);
  });

  const until = <T>(what: string, ask: () => Promise<T | undefined | false>) =>
    world.until(what, ask, PATIENCE_SECONDS);

  const fired = new Set<string>();

  /** Waits until none of these alerts fires, runs the cause, and waits until all of them have fired. */
  async function fire(alerts: readonly string[], cause: () => unknown): Promise<void> {
    await resolves(...alerts);
    const since = Date.now() / 1000;
    await cause();
    for (const alert of alerts) {
      const firing = `ALERTS{alertname="${alert}",alertstate="firing"}`;
      await until(`${alert} fires`, async () => (await valuesSince(since, firing)).length > 0);
      fired.add(alert);
    }
  }

  async function resolves(...alerts: string[]): Promise<void> {
    for (const alert of alerts) {
      const query = `ALERTS{alertname="${alert}",alertstate="firing"}`;
      await until(`${alert} resolves`, async () => (await prometheus.query(query)).length === 0);
    }
  }

  /** The series that an expression has had at any time since then, with their numbers. */
  async function valuesSince(from: number, expression: string): Promise<Series[]> {
    const series = await prometheus.range(expression, { from, to: Date.now() / 1000, stepSeconds: 1 });
    return series.filter(({ values }) => values.some(([, value]) => Number.isFinite(value)));
  }

  /** Starts a replica, and again whenever it ends, as a kubelet would: on a busy machine it may lose its lease. */
  async function launch(pod: string): Promise<void> {
    const operator = new OperatorProcess({
      kubeconfig: cluster.kubeconfig,
      gateway: { url: service.url, apiKey: world.simulator.apiKey },
      namespaces: [world.namespace],
      env: {
        LEADER_ELECTION: "true",
        POD_NAMESPACE: world.namespace,
        ADOPTION_NAMESPACES: "*",
        // a request that the test holds back must not time out
        RESYNC_INTERVAL: "2s",
        SESSION_SYNC_INTERVAL: "1s",
        REQUEST_TIMEOUT: "120s",
      },
    });
    replicas.set(pod, operator);
    void operator.exited().then(async () => {
      if (isClosing) return;
      await launch(pod);
      await scrapeAll();
    });
    await operator.url();
  }

  async function scrapeAll(): Promise<void> {
    const targets = [...replicas].map(async ([pod, one]) => ({ url: await one.url(), labels: { ...scraped, pod } }));
    await prometheus.scrape(await Promise.all(targets));
  }

  const leaders = () => prometheus.query("leader_election_master_status == 1");

  test("no operator: an alert, until one is scraped", async () => {
    await fire(["TunnelGatewayOperatorAbsent"], () => prometheus.scrape([]));
  });

  test("two replicas, and somebody else has the lease: an alert, until one of them leads", async () => {
    const now = new Date().toISOString().replace("Z", "000Z");
    const spec = { holderIdentity: "somebody", leaseDurationSeconds: 3600, acquireTime: now, renewTime: now };
    await world.apply({ apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: LEASE }, spec });
    await Promise.all([launch("one"), launch("two")]);
    await fire(["TunnelGatewayOperatorNoLeader"], scrapeAll);
    await resolves("TunnelGatewayOperatorAbsent");
    await world.kubectl("delete", "lease", LEASE);
    await resolves("TunnelGatewayOperatorNoLeader");
    expect(await leaders()).toHaveLength(1);
  });

  test("objects of every kind, a session and a command, and a service that is asked too much", async () => {
    const documents = await examples();
    control().fault({ path: "/ip_policies", times: 2, action: { rateLimit: { retryAfterSeconds: 1 } } });
    control().addSession({ region: "eu" });
    await world.kube.apply(...documents);
    await until("a session is mirrored", async () => (await world.kube.list("TunnelSession")).length === 1);
    const selector = { matchLabels: { "tunnelgateway.dev/region": "eu" } };
    await world.kube.apply(manifest("AgentCommand", "restart", { command: "Restart", selector }));
    await until("it is restarted", async () => (await world.get("AgentCommand", "restart"))?.status?.completedAt);
    await world.untilAll("all are Ready", documents, isReady, PATIENCE_SECONDS);
  });

  test("a wrong key: an alert, until it is right", async () => {
    await fire(["TunnelGatewayUnauthorized"], () => control().apiKeys.revoke(world.simulator.apiKey));
    control().apiKeys.accept(world.simulator.apiKey);
  });

  test("drift that is put right: an alert, which ends by itself after a while", async () => {
    await world.kube.apply(manifest("TunnelGroupBackend", "changed", { labels: { a: "ours" } }));
    const { status } = await world.ready("TunnelGroupBackend", "changed");
    await fire(["TunnelGatewayDriftCorrected"], () => control().patch(status.id, { labels: { a: "theirs" } }));
    expect(control().get(status.id)).toMatchObject({ labels: { a: "ours" } });
  });

  test("drift that is left: an alert, until it is gone", async () => {
    await world.kube.apply(manifest("IPPolicy", "reported", { description: "ours", driftPolicy: "Report" }));
    const { status } = await world.ready("IPPolicy", "reported");
    await fire(["TunnelGatewayDriftLeft"], () => control().patch(status.id, { description: "theirs" }));
    control().patch(status.id, { description: "ours" });
    await resolves("TunnelGatewayDriftLeft");
  });

  test("a spec that the service refuses: alerts, until it is changed", async () => {
    const alerts = ["TunnelGatewayObjectsStalled", "TunnelGatewayObjectsNotReady"];
    await fire(alerts, async () => {
      control().fault({ method: "POST", path: "/reserved_addrs", times: 1000, action: { status: 400 } });
      await world.kube.apply(manifest("ReservedAddress", "refused", { description: "wrong" }));
    });
    expect(conditionOf(await world.get("ReservedAddress", "refused"), "Stalled")).toMatchObject({ status: "True" });
    control().clearFaults();
    await world.kube.apply(manifest("ReservedAddress", "refused", { description: "right" }));
    await resolves(...alerts);
  });

  test("certificates that end, or are not renewed: alerts, until there are new ones", async () => {
    const days = (count: number) => new Date(Date.now() + count * 86_400_000);
    const secret = (notBefore: Date, notAfter: Date) => tlsSecret("ending", { commonName: "a", notBefore, notAfter });
    const certificate = manifest("TLSCertificate", "ending", { secretName: "ending" });
    const policy = { certificateManagementPolicy: { authority: "freeca" } };
    await world.kube.apply(manifest("ReservedDomain", "unrenewed", { ...policy, domain: "unrenewed.example.org" }));
    const domain = await world.ready("ReservedDomain", "unrenewed");
    const reasons = ["Expiring", "Ending", "RenewalFailing", "NotRenewed"];
    const alerts = reasons.map((reason) => `TunnelGatewayCertificate${reason}`);
    await fire(alerts, async () => {
      await world.kube.apply(secret(days(-88), days(2)), certificate);
      const overdue = { renews_at: days(-3).toISOString(), provisioning_job: null };
      control().patch(domain.status.id, { certificate_management_status: overdue });
      control().certificate(domain.status.id, { state: "dns_error" });
    });
    await until("the certificate without an object is told too", async () => {
      const ends = { not_before: days(-88).toISOString(), not_after: days(2).toISOString() };
      control().patch(domain.status.certificate.id, ends);
      const firing = 'ALERTS{alertname="TunnelGatewayCertificateEnding",alertstate="firing",object_name=""}';
      return (await prometheus.query(firing)).length > 0;
    });
    control().certificate(domain.status.id, { state: "issued" });
    await world.kube.apply(secret(days(-1), days(89)));
    await world.kube.annotate("TLSCertificate", "ending", { [annotations.reconcileRequestedAt]: "now" });
    await resolves(...alerts);
  });

  test("a list that fails, while all else works: an alert, until it works", async () => {
    const lists = { method: "GET", path: "/reserved_addrs", times: 1000, action: { status: 500 } } as const;
    await fire(["TunnelGatewayInventoryOld"], () => control().fault(lists));
    control().clearFaults();
    await resolves("TunnelGatewayInventoryOld");
  });

  test("a right that is missing: alerts, until it is granted", async () => {
    const body = { kind: "Status", apiVersion: "v1", status: "Failure", reason: "Forbidden", code: 403, message: "no" };
    const forbidden: Substitute = { status: 403, body: JSON.stringify(body) };
    const statuses = /\/tunnelgroupbackends\/[^/]+\/status/;
    await fire(["TunnelGatewayForbidden", "TunnelGatewayReconcileErrors"], async () => {
      cluster.guard = ({ method, path }) => (method === "PATCH" && statuses.test(path) ? forbidden : undefined);
      await world.kube.apply(manifest("TunnelGroupBackend", "unsaid", { labels: { a: "b" } }));
    });
    cluster.guard = () => undefined;
  });

  test("a watch that is refused: an alert, until it is allowed", async () => {
    const body = JSON.stringify({
      kind: "Status",
      apiVersion: "v1",
      status: "Failure",
      reason: "Forbidden",
      code: 403,
    });
    await fire(["TunnelGatewayWatchDisconnected"], () => {
      cluster.guard = ({ path }) => (/\/failoverbackends\?/.test(path) ? { status: 403, body } : undefined);
      cluster.endWatches(`{"type":"ERROR","object":{"kind":"Status","code":500,"reason":"InternalError"}}`);
    });
    cluster.guard = () => undefined;
    await resolves("TunnelGatewayWatchDisconnected");
  });

  test("a service that does not answer: alerts on the queue, until it does", async () => {
    const answer = Promise.withResolvers<undefined>();
    service.guard = ({ method, path }, side) =>
      side === "before" && method === "POST" && path === "/ip_policies" ? answer.promise : undefined;
    // more than there are workers
    const policies = Array.from({ length: 110 }, (_, index) => manifest("IPPolicy", `held-${index}`, {}));
    const alerts = ["TunnelGatewayQueueGrowing", "TunnelGatewayStuckPass", "TunnelGatewayQueueStuck"];
    await fire(alerts, () => world.kube.apply(...policies));
    answer.resolve(undefined);
    await resolves(...alerts);
    // A create that the next outage interrupted would wait for two minutes.
    await world.untilAll("all are Ready", policies, isReady, PATIENCE_SECONDS);
  });

  test("an outage of the service: an alert, until it is over", async () => {
    await fire(["TunnelGatewayUnavailable"], () => control().outage(true));
    control().outage(false);
  });

  // An alert on a rate ends when its window has passed. All of them are waited for here, together.
  test("every alert has fired, and has resolved", async () => {
    expect([...fired].sort()).toEqual(monitoring.rules.map(({ alert }) => alert).sort());
    await resolves(...fired);
  });

  test("every query of the dashboard has had data", async () => {
    const empty: string[] = [];
    for (const { panel, expr } of monitoring.queries) {
      const found = await valuesSince(begun, expr.replaceAll("$__rate_interval", `${WINDOW_SECONDS}s`));
      if (found.length === 0) empty.push(`${panel}: ${expr}`);
    }
    expect(empty).toEqual([]);
    expect(monitoring.queries.length).toBeGreaterThan(20);
  });

  test("every metric of the page has had data, and there are no others", async () => {
    const page = await readFile(join(import.meta.dirname, "../../docs/metrics.md"), "utf8");
    const named = [...page.matchAll(/^\| `(\w+)` \| (?:counter|gauge|histogram) \|/gm)].map(([, name]) => name);
    const all = await valuesSince(
      begun,
      `count by (__name__) ({namespace="${scraped.namespace}",__name__!~"${OF_PROMETHEUS}"})`,
    );
    const names = all.map(({ labels }) => labels["__name__"]?.replace(/_(?:bucket|count|sum)$/, ""));
    // It has a series only where a request of the process to its system is under way at the moment of a scrape.
    expect([...new Set([...names, "nodejs_active_requests"])].sort()).toEqual(named.sort());
  });

  test("promtool has nothing to say about the metrics", async () => {
    const said = await Promise.all([...replicas.values()].map(async (one) => lint(await one.read("/metrics"))));
    const nothing = { code: 0, stdout: "", stderr: "" };
    expect(said).toEqual([nothing, nothing]);
  });

  describe("with 1,000 objects", () => {
    beforeAll(async () => {
      if (!programs) return;
      const kinds = ["IPPolicy", "TunnelGroupBackend", "HTTPResponseBackend", "ReservedAddress", "TCPEdge"];
      const there = await world.kube.list(...managedKinds);
      const objects = Array.from({ length: 1000 - there.length }, (_, index) =>
        manifest(kinds[index % kinds.length] as string, `many-${index}`, { description: `number ${index}` }),
      );
      for (let index = 0; index < objects.length; index += 50) {
        await world.kube.apply(...objects.slice(index, index + 50));
      }
      await world.untilAll("all are Ready", objects, isReady, PATIENCE_SECONDS);
    });

    const counted = async (expression: string) => (await prometheus.query(expression))[0]?.values[0]?.[1];

    test("a replica has few series", async () => {
      const series = await until("both are scraped", async () => {
        const answers = await prometheus.query("scrape_samples_scraped");
        return answers.length === 2 && answers.map(({ values }) => values[0]?.[1] ?? 0);
      });
      expect(Math.max(...series)).toBeLessThan(2000);
    });

    test("each object counts once", async () => {
      const total = (await world.kube.list(...managedKinds)).length;
      expect(total).toBeGreaterThanOrEqual(1000);
      const expression = monitoring.queries.find(({ panel }) => panel === "Objects by kind")?.expr;
      const accounts = (await counted('sum(max by (reason) (tunnelgateway_resources{kind="GatewayAccount"}))')) ?? 0;
      await until("all are counted", async () => (await counted(`sum(${expression})`)) === total + accounts);
    });

    test("the standby adds nothing but what is its own", async () => {
      const own = /rest_client_requests_total|leader_election|process_|nodejs_|ALERTS/;
      const expressions = [
        ...monitoring.queries.map(({ expr }) => expr.replaceAll("$__rate_interval", `${WINDOW_SECONDS}s`)),
        ...monitoring.rules.map((rule) => quick(rule).expr),
      ].filter((expression) => !own.test(expression));
      expect(expressions.length).toBeGreaterThan(30);
      const selector = `namespace="${scraped.namespace}"`;
      for (const expression of expressions) {
        await until(`the same for both replicas as for the leader: ${expression}`, async () => {
          const [leader] = await leaders();
          const ofLeader = expression.replaceAll(selector, `${selector},pod="${leader?.labels["pod"]}"`);
          expect(ofLeader).not.toBe(expression);
          const at = Date.now() / 1000;
          const answers = await Promise.all([expression, ofLeader].map((one) => prometheus.query(one, at)));
          const [both, one] = answers.map((series) => series.map((each) => JSON.stringify(each)).sort());
          return isDeepStrictEqual(both, one);
        });
      }
    });
  });

  const lint = (metrics: string) => run(programs?.promtool ?? "", ["check", "metrics"], { input: metrics });
});
