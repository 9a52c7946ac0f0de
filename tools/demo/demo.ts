import { installKinds } from "../cluster/install-kinds.ts";
import { startCluster } from "../cluster/start.ts";
import { exampleRoutes } from "../shared/examples.ts";
import { startSimulator } from "../simulator/simulator.ts";
import { accountTables } from "./account.ts";
import type { Arguments } from "./arguments.ts";
import { applyExamples, createNamespace, isShared, NAMESPACE, removeNamespace } from "./manifests.ts";
import { keyOf, readObjects } from "./objects.ts";
import { startOperator } from "./operator.ts";
import { watchBecomingReady } from "./screen/becoming-ready.ts";
import { follow } from "./screen/following.ts";
import { hints } from "./screen/hints.ts";
import { line } from "./screen/line.ts";
import { report } from "./screen/report.ts";
import type { Screen } from "./screen/screen.ts";
import { step } from "./steps.ts";

const RESYNC_SECONDS = 30;
// slow, so that people can see what happens
const SERVICE = { latencyMs: 100, certificates: { provisionMs: 3000 } };

/**
 * Runs the whole demo. With `--once` it resolves with the exit code, once everything that was started has ended.
 * Without `--once` it runs until the signal aborts, and throws the signal's reason.
 */
export async function demo({ once, timeout }: Arguments, screen: Screen, signal: AbortSignal): Promise<number> {
  await using started = new AsyncDisposableStack();

  const cluster = await step(screen, {
    title: "Kubernetes",
    work: (say) => startCluster({ onProgress: say, signal }),
    outcome: ({ url }) => `API server at ${url}`,
  });
  started.defer(() => cluster.stop());
  signal.throwIfAborted();

  const simulator = await step(screen, {
    title: "Service",
    work: async () => startSimulator({ ...SERVICE, routes: await exampleRoutes() }),
    outcome: ({ url }) => `simulator at ${url}`,
  });
  started.defer(() => simulator.stop());

  await createNamespace(cluster);
  started.defer(() => removeNamespace(cluster));
  await step(screen, {
    title: "Kinds",
    work: () => installKinds(cluster),
    outcome: (crds) => `${crds.length} from crds/`,
  });
  signal.throwIfAborted();

  const { kubeconfig, kubectl, kubectlRun } = cluster;
  const { url: baseURL, apiKey, control } = simulator;
  const namespaces = isShared(cluster) ? [NAMESPACE] : [];
  const operator = await step(screen, {
    title: "Operator",
    work: () => startOperator({ kubeconfig, baseURL, apiKey, namespaces, resyncSeconds: RESYNC_SECONDS, signal }),
    outcome: ({ log }) => `log in ${log}`,
  });
  started.defer(() => operator.stop());
  // also deferred here, to run before the operator stops: it has to remove the finalizers
  started.defer(() => removeNamespace(cluster));
  signal.throwIfAborted();

  const expected = await step(screen, {
    title: "Objects",
    work: () => applyExamples(cluster),
    outcome: (objects) => `${objects.length} from examples/, in namespace ${NAMESPACE}`,
  });

  const read = () => readObjects(kubectlRun, NAMESPACE);
  const until = AbortSignal.any([signal, operator.ended]);
  const end = await watchBecomingReady(screen, { read, expected, timeoutMs: timeout * 1000, signal: until });
  screen.print(...report(end, expected, operator.lastLines()));
  if (once && end.verdict !== "ready") return 1;
  screen.print([], line("  The account", "bold"));
  screen.printClipped(...accountTables(control));
  if (once) return 0;

  const backend = end.objects.find((object) => keyOf(object) === "TunnelGroupBackend/database");
  screen.print(
    ...hints({
      kubeconfig,
      kubectl,
      namespace: NAMESPACE,
      serviceURL: baseURL,
      apiKeyFile: operator.apiKeyFile,
      operatorURL: operator.url,
      operatorLog: operator.log,
      backendID: backend?.id ?? "",
      resyncSeconds: RESYNC_SECONDS,
    }),
    line("\n  Stays until Ctrl-C. What happens is shown here:\n", "bold"),
  );
  // awaited here: otherwise everything would be stopped at once
  return await follow(screen, { read, control, objects: end.objects, signal: until });
}
