import type { Cluster } from "../cluster/cluster.ts";
import { installKinds } from "../cluster/install-kinds.ts";
import { startCluster } from "../cluster/start.ts";
import type { Bind } from "../dns/bind.ts";
import { exampleRoutes } from "../shared/examples.ts";
import { type Control, startSimulator } from "../simulator/simulator.ts";
import { accountTables } from "./account.ts";
import type { Arguments } from "./arguments.ts";
import { makeByHand } from "./by-hand.ts";
import { startBind, startExternalDNS } from "./dns.ts";
import { applyExamples, askForRecord, createNamespace, isShared, removeNamespace } from "./manifests.ts";
import { NAMESPACE } from "./namespace.ts";
import { keyOf, readObjects } from "./objects.ts";
import { type DemoOperator, startOperator } from "./operator.ts";
import { type DemoPage, startPage } from "./page.ts";
import { recordChanges } from "./records.ts";
import { watchBecomingReady } from "./screen/becoming-ready.ts";
import { follow } from "./screen/following.ts";
import { hints } from "./screen/hints.ts";
import { type Line, line } from "./screen/line.ts";
import { report } from "./screen/report.ts";
import type { Screen } from "./screen/screen.ts";
import { connectAgents } from "./sessions.ts";
import { step } from "./steps.ts";
import { makeToolbox } from "./toolbox.ts";

const RESYNC_SECONDS = 30;
// slow, so that people can see what happens
const LATENCY_MS = 100;
const PROVISION_MS = 3000;

/**
 * Runs the whole demo. With `--once` it resolves with the exit code, once everything that was started has ended.
 * Without `--once` it runs until the signal aborts, and throws the signal's reason.
 */
export async function demo({ once, dns, timeout }: Arguments, screen: Screen, signal: AbortSignal): Promise<number> {
  await using started = new AsyncDisposableStack();
  const stage = await startStage({ dns, screen, signal, started });
  const { bind, cluster, control } = stage;
  const operator = await startOperatorOn(stage, { screen, signal, started });
  const expected = await step(screen, {
    title: "Objects",
    work: () => applyExamples(cluster),
    outcome: (objects) => `${objects.length} from examples/, in namespace ${NAMESPACE}`,
  });
  if (bind) await askForRecord(cluster);

  const read = () => readObjects(cluster.kubectlRun, isShared(cluster) ? "demo" : "everywhere");
  const until = AbortSignal.any([signal, operator.ended]);
  const end = await watchBecomingReady(screen, { read, expected, timeoutMs: timeout * 1000, signal: until });
  screen.printWrapped(...report(end, expected, operator.lastLines()));
  if (once && end.verdict !== "ready") return 1;
  screen.print([], line("  The account", "bold"));
  screen.printWrapped(...accountTables(control));
  const records = bind ? recordChanges(bind, control) : async () => [];
  if (bind) screen.print([], line("  The records in BIND", "bold"), ...(await records()).map(indented));
  if (once) return 0;

  const { kubeconfig } = cluster;
  const page = await startPage({ kubeconfig, baseURL: stage.baseURL, apiKeyFile: operator.apiKeyFile, signal });
  started.defer(() => page.stop());
  const backend = end.objects.find((object) => keyOf(object) === "TunnelGroupBackend/database");
  screen.print(
    ...(await hintsOf(stage, operator, { page, backendID: backend?.id ?? "", hasDNS: dns })),
    line("\n  Stays until Ctrl-C. What happens is shown here:\n", "bold"),
  );
  // awaited here: otherwise everything would be stopped at once
  return await follow(screen, { read, control, records, objects: end.objects, signal: until });
}

interface Starting {
  screen: Screen;
  signal: AbortSignal;
  /** Ends what was started, the last first. */
  started: AsyncDisposableStack;
}

/** What the operator works with. `session`: the id of a tunnel session. */
interface Stage {
  bind: Bind | undefined;
  cluster: Cluster;
  baseURL: string;
  apiKey: string;
  control: Control;
  session: string;
}

async function startStage({ dns, screen, signal, started }: Starting & { dns: boolean }): Promise<Stage> {
  const bind = dns ? await startBind(screen) : undefined;
  started.defer(async () => bind?.stop());

  const cluster = await step(screen, {
    title: "Kubernetes",
    work: (say) => startCluster({ onProgress: say, onBar: screen.size && say, signal }),
    outcome: ({ url }) => `API server at ${url}`,
  });
  started.defer(() => cluster.stop());
  signal.throwIfAborted();

  const simulator = await step(screen, {
    title: "Service",
    work: async () => {
      // with BIND, a certificate needs its record there; otherwise the simulator takes all records for granted
      const certificates = { provisionMs: PROVISION_MS, resolver: bind?.address };
      return startSimulator({ latencyMs: LATENCY_MS, certificates, routes: await exampleRoutes() });
    },
    outcome: ({ url }) => `simulator at ${url}`,
  });
  const [session = ""] = connectAgents(simulator.control);
  await makeByHand(simulator.control);
  started.defer(() => simulator.stop());

  await createNamespace(cluster);
  started.defer(() => removeNamespace(cluster));
  await step(screen, {
    title: "Kinds",
    work: () => installKinds(cluster),
    outcome: (crds) => `${crds.length} from crds/`,
  });
  signal.throwIfAborted();

  const externalDNS = bind && (await startExternalDNS(screen, cluster, bind));
  started.defer(async () => externalDNS?.stop());
  signal.throwIfAborted();
  const { url: baseURL, apiKey, control } = simulator;
  return { bind, cluster, baseURL, apiKey, control, session };
}

async function startOperatorOn(
  { bind, cluster, baseURL, apiKey }: Stage,
  { screen, signal, started }: Starting,
): Promise<DemoOperator> {
  const operator = await step(screen, {
    title: "Operator",
    work: () =>
      startOperator({
        kubeconfig: cluster.kubeconfig,
        baseURL,
        apiKey,
        namespaces: isShared(cluster) ? [NAMESPACE] : [],
        signal,
        resyncSeconds: RESYNC_SECONDS,
        resolver: bind?.address,
      }),
    outcome: ({ log }) => `log in ${log}`,
  });
  started.defer(() => operator.stop());
  // also deferred here, to run before the operator stops: it has to remove the finalizers
  started.defer(() => removeNamespace(cluster));
  signal.throwIfAborted();
  return operator;
}

const hintsOf = async (
  { cluster: { kubeconfig, kubectl }, baseURL, session }: Stage,
  operator: DemoOperator,
  { page, backendID, hasDNS }: { page: DemoPage; backendID: string; hasDNS: boolean },
): Promise<Line[]> =>
  hints({
    kubeconfig,
    ...(await makeToolbox(operator.directory, { kubectl, session })),
    namespace: NAMESPACE,
    serviceURL: baseURL,
    apiKeyFile: operator.apiKeyFile,
    operatorURL: operator.url,
    operatorLog: operator.log,
    pageAddress: page.address,
    backendID,
    resyncSeconds: RESYNC_SECONDS,
    hasDNS,
  });

const indented = (text: Line): Line => [{ text: "  " }, ...text];
