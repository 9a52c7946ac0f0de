import { resolve } from "node:path";
import { type Cluster, startCluster } from "../cluster/cluster.ts";
import { startSimulator } from "../simulator/simulator.ts";
import { accountTables } from "./account.ts";
import type { Arguments } from "./arguments.ts";
import { type End, watchBecomingReady } from "./becoming-ready.ts";
import { follow } from "./following.ts";
import { hints } from "./hints.ts";
import { line } from "./line.ts";
import { keyOf, readObjects } from "./objects.ts";
import { type OperatorProcess, startOperator } from "./operator.ts";
import type { Screen } from "./screen.ts";
import { step } from "./steps.ts";
import { complaints } from "./verdict.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const NAMESPACE = "demo";
const RESYNC_SECONDS = 30;
// slow enough to be seen
const SERVICE = { latencyMs: 100, certificates: { provisionMs: 3000 } };

/**
 * Everything from an API server to objects that are Ready. Resolves with the exit code of `--once`, when all that was
 * started has ended; without `--once` it stays until the signal aborts. Throws the signal's reason.
 */
export async function demo({ once, timeoutSeconds }: Arguments, screen: Screen, signal: AbortSignal): Promise<number> {
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
    work: () => startSimulator(SERVICE),
    outcome: ({ url }) => `simulator at ${url}`,
  });
  started.defer(() => simulator.stop());

  await step(screen, {
    title: "Kinds",
    work: () => install(cluster),
    outcome: (crds) => `${crds.length} from crds/`,
  });
  signal.throwIfAborted();

  const operator = await step(screen, {
    title: "Operator",
    work: () => startOperator({ ...operatorIn(cluster), baseURL: simulator.url, apiKey: simulator.apiKey, signal }),
    outcome: ({ log }) => `log in ${log}`,
  });
  started.defer(() => operator.stop());
  started.defer(() => removeObjects(cluster));
  signal.throwIfAborted();

  const expected = await step(screen, {
    title: "Objects",
    work: () => applyExamples(cluster),
    outcome: (objects) => `${objects.length} from examples/, in namespace ${NAMESPACE}`,
  });

  const read = () => readObjects(cluster.kubectlRun, NAMESPACE);
  const until = AbortSignal.any([signal, operator.ended]);
  const end = await watchBecomingReady(screen, { read, expected, timeoutMs: timeoutSeconds * 1000, signal: until });
  await report(screen, { end, expected, operator });
  screen.print(line("\n  The account", "bold"), ...accountTables(simulator.control));
  if (once) return end.verdict === "ready" ? 0 : 1;

  const policyID = end.objects.find((object) => keyOf(object) === "IPPolicy/office")?.id ?? "";
  screen.print(
    ...hints({
      kubeconfig: cluster.kubeconfig,
      kubectl: cluster.kubectl,
      namespace: NAMESPACE,
      simulatorURL: simulator.url,
      apiKeyFile: operator.apiKeyFile,
      operatorURL: operator.url,
      operatorLog: operator.log,
      policyID,
      resyncSeconds: RESYNC_SECONDS,
    }),
    line("\n  Stays until Ctrl-C. What happens is shown here:\n", "bold"),
  );
  return follow(screen, { read, control: simulator.control, objects: end.objects, signal: until });
}

/** A cluster that others use too: nothing but the namespace of the demo is touched. */
const isShared = (cluster: Cluster): boolean => cluster.stopAPIServer === undefined;

const operatorIn = (cluster: Cluster) => ({
  kubeconfig: cluster.kubeconfig,
  namespaces: isShared(cluster) ? [NAMESPACE] : [],
  resyncSeconds: RESYNC_SECONDS,
});

async function install({ kubectlRun }: Cluster): Promise<string[]> {
  await kubectlRun(["create", "namespace", NAMESPACE]);
  const crds = names(await kubectlRun(["apply", `--filename=${ROOT}/crds`, "--output=name"]));
  await kubectlRun(["wait", "--for=condition=Established", "--timeout=30s", ...crds]);
  return crds;
}

/** Answers the keys of the objects of our kinds. */
async function applyExamples({ kubectlRun }: Cluster): Promise<string[]> {
  const { stdout } = await kubectlRun([
    "apply",
    `--namespace=${NAMESPACE}`,
    `--filename=${ROOT}/examples`,
    "--validate=strict",
    "--output=json",
  ]);
  const { items } = JSON.parse(stdout) as {
    items: { apiVersion: string; kind: string; metadata: { name: string } }[];
  };
  return items
    .filter(({ apiVersion }) => apiVersion.startsWith("tunnelgateway.dev/"))
    .map(({ kind, metadata }) => keyOf({ kind, name: metadata.name }));
}

/** While the operator is there to let them go. A cluster of our own goes away as a whole. */
async function removeObjects(cluster: Cluster): Promise<void> {
  if (!isShared(cluster)) return;
  await cluster.kubectlRun(["delete", "namespace", NAMESPACE, "--ignore-not-found", "--timeout=60s"]);
}

const names = ({ stdout }: { stdout: string }): string[] => stdout.split("\n").filter(Boolean);

interface Outcome {
  readonly end: End;
  readonly expected: readonly string[];
  readonly operator: OperatorProcess;
}

async function report(screen: Screen, { end, expected, operator }: Outcome): Promise<void> {
  const seconds = `${end.seconds.toFixed(1)} s`;
  if (end.verdict === "ready") {
    screen.print([], line(`  ✓ all ${expected.length} objects are Ready after ${seconds}`, "green"));
    return;
  }
  const why = end.verdict === "stuck" ? "and waiting is of no use" : "and the time is over";
  screen.print(
    [],
    line(`  ✗ not all objects are Ready after ${seconds}, ${why}`, "red"),
    ...complaints(expected, end.objects).map((complaint) => line(`    ${complaint}`)),
    line("\n  Last lines of the operator's log", "bold"),
    line(await operator.lastLines(), "dim"),
  );
}
