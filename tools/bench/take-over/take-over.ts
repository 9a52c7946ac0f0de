import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Cluster } from "../../cluster/cluster.ts";
import { Operator, runCommand, undisturbed } from "../../shared/operator.ts";
import type { Ended } from "../../shared/run.ts";
import { type Simulator, startSimulator } from "../../simulator/simulator.ts";
import { fill } from "./account.ts";

export interface TakeOverOptions {
  cluster: Pick<Cluster, "kubeconfig" | "kubectlRun">;
  /** It exists, and has no objects. */
  namespace: string;
  resources: number;
  /** Imports what a state of Terraform has, in place of what the account lists. */
  terraform: boolean;
  onFinding?: (finding: Finding) => void;
}

/** Something that has to hold. */
export interface Finding {
  what: string;
  isRight: boolean;
  /** What was found instead. */
  more?: string;
}

/** An import takes at most so many requests and seconds. */
const IMPORT = { requests: 100, seconds: 60 };

/** Takes an account that people have made under management, and checks that nothing is sent but owner marks. */
export async function takeOver(options: TakeOverOptions): Promise<Finding[]> {
  await using started = new AsyncDisposableStack();
  const simulator = await startSimulator();
  started.defer(() => simulator.stop());
  fill(simulator, options.resources);
  const findings: Finding[] = [];
  const trial: Trial = {
    options,
    simulator,
    started,
    report(what, isRight, more = "") {
      const finding = { what, isRight, ...(more && !isRight && { more: more.split("\n").slice(0, 5).join("\n") }) };
      findings.push(finding);
      options.onFinding?.(finding);
    },
  };
  const before = accountOf(simulator);
  const imported = await importTwice(trial);
  await applyImported(trial, imported);
  trial.report("the account is as before, but for owner marks", accountOf(simulator) === before);
  const planned = await run(trial, ["plan"], { REQUESTS_PER_MINUTE: "0" });
  trial.report(
    `plan: ${planned.stdout.trim().split("\n").at(-1)}`,
    planned.code === 0 && /nothing to do/i.test(planned.stdout),
    planned.stderr,
  );
  return findings;
}

interface Trial {
  options: TakeOverOptions;
  simulator: Simulator;
  started: AsyncDisposableStack;
  report: (what: string, isRight: boolean, more?: string) => void;
}

/** The manifests that `import` prints. */
async function importTwice(trial: Trial): Promise<string> {
  const { options, simulator, started, report } = trial;
  const { control } = simulator;
  const what = options.terraform ? ["--terraform", await stateFile(simulator, started)] : ["--all"];
  control.clearRequests();
  const first = await run(trial, ["import", ...what]);
  const reads = control.count();
  // All but the API key that the simulator begins with, which this test uses.
  const importable = listedCollections(simulator).flatMap((name) => control.objects(name)).length - 1;
  const objects = objectsIn(first.stdout);
  report(
    `import: ${objects} objects in ${first.seconds.toFixed(1)} s with ${reads} requests`,
    first.code === 0 && objects >= importable && reads <= IMPORT.requests && first.seconds <= IMPORT.seconds,
    first.stderr,
  );
  report("a second import is byte-equal", (await run(trial, ["import", ...what])).stdout === first.stdout);
  return first.stdout;
}

async function applyImported({ options, simulator, started, report }: Trial, imported: string): Promise<void> {
  const { cluster, namespace } = options;
  const { control } = simulator;
  const operator = new Operator({
    kubeconfig: cluster.kubeconfig,
    gateway: simulator,
    namespaces: [namespace],
    env: { ...undisturbed, ADOPTION_NAMESPACES: "*" },
  });
  started.defer(async () => {
    await operator.stop("SIGKILL");
  });
  await operator.started();
  control.clearRequests();
  await cluster.kubectlRun(["apply", "--server-side", "-n", namespace, "-f", "-"], { input: imported });
  const waited = await cluster.kubectlRun(
    ["wait", "--for=condition=Ready", "tunnelgateway", "--all", "-n", namespace, "--timeout=600s"],
    { allowFailure: true },
  );
  report("all objects are Ready", waited.code === 0, waited.stderr);
  const writes = control.requests().filter(({ method }) => method !== "GET");
  const managed = objectsIn(imported) - countOf(imported, /managementPolicy: ObserveOnly/g);
  report(
    `${writes.length} writes, for ${managed} objects that are not only observed; each is a PATCH`,
    writes.length <= managed && writes.every(({ method }) => method === "PATCH"),
  );
}

const run = (
  { options: { cluster, namespace }, simulator }: Trial,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
) =>
  timed([...args, "-n", namespace], {
    // The cluster may have objects of others.
    KUBECONFIG: cluster.kubeconfig,
    WATCH_NAMESPACES: namespace,
    GATEWAY_BASE_URL: simulator.url,
    GATEWAY_API_KEY: simulator.apiKey,
    ...env,
  });

/** Runs a command as a user does, at the default request budget unless `env` says otherwise. */
async function timed(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Ended & { seconds: number }> {
  const startedAt = performance.now();
  const ended = await runCommand(args, env);
  return { ...ended, seconds: (performance.now() - startedAt) / 1000 };
}

const objectsIn = (manifests: string): number => countOf(manifests, /^apiVersion: tunnelgateway/gm);

const countOf = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;

/** Collections of what a list shows and an object can stand for. */
const listedCollections = ({ control }: Pick<Simulator, "control">): string[] =>
  Object.keys(control.summary()).filter((name) => !/^(tunnel_sessions|https_routes)$/.test(name));

/** A state of Terraform with all resources that a list shows. */
async function stateFile({ control }: Simulator, started: AsyncDisposableStack): Promise<string> {
  const resources = listedCollections({ control }).map((name) => ({
    mode: "managed",
    type: `gateway_${name.replaceAll("/", "_")}`,
    name: "all",
    instances: control.objects(name).map(({ id }, index) => ({ index_key: index, attributes: { id } })),
  }));
  const folder = await mkdtemp(join(tmpdir(), "trial-"));
  started.defer(() => rm(folder, { recursive: true }));
  const file = join(folder, "terraform.tfstate");
  await writeFile(file, JSON.stringify({ version: 4, resources }));
  return file;
}

/** All that the account has, without owner marks, and without what changes as time goes by. */
const accountOf = ({ control }: Simulator): string =>
  JSON.stringify(
    Object.keys(control.summary()).map((name) =>
      control
        .objects(name)
        .map(({ metadata: _, certificate: __, certificate_management_status: ___, updated_at: ____, ...row }) => row),
    ),
  );
