import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Cluster } from "../../cluster/cluster.ts";
import { installKinds } from "../../cluster/install-kinds.ts";
import { startCluster } from "../../cluster/start.ts";
import { asText, defineProgram, runProgram, wholeNumber } from "../../shared/program.ts";
import { percentile } from "../figures.ts";
import { preparePeer } from "../peer.ts";
import { apiServerAt, threadMilliseconds } from "../processes.ts";
import { lines, text } from "../table.ts";
import { type Cost, measure, type Subject } from "./measure.ts";
import { type Variant, variants } from "./variants.ts";
import { type Written, writtenBy } from "./written.ts";

const program = defineProgram({
  command: "node_modules/.bin/node tools/bench/writes/main.ts",
  about: `Measures what the API server spends on an object of ours and on one of the peer, and what each part of it costs: it
is given what both operators have written, as it is and with parts left out. Needs bundle/, which npm run bundle makes.`,
  options: {
    rounds: { value: "n", about: "with a few objects of each variant in each", initial: 30, read: wholeNumber(1) },
    batch: { value: "n", about: "objects of each kind in a round", initial: 10, read: wholeNumber(1) },
    operator: { value: "file", about: "what writes first", initial: "bundle/dist/main.js", read: asText },
  },
});

const NAMESPACE = "writes";

await runProgram(program, async ({ operator, ...options }) => {
  const cluster = await startCluster({ onProgress: (line) => console.error(line) });
  try {
    await installKinds(cluster);
    const samples = { peer: await writtenBy(cluster, await preparePeer(cluster)), ours: [] as Written[] };
    samples.ours = await writtenBy(cluster, { main: operator });
    const subjects = variants.flatMap((variant, index) =>
      samples[variant.of].map((one): Subject => ({ variant, written: changed(one, variant, index) })),
    );
    await install(cluster, subjects);
    await cluster.kubectlRun(["create", "namespace", NAMESPACE]);
    await idle(cluster);
    const costs = await measure(cluster, subjects, { namespace: NAMESPACE, ...options });
    console.log(tableOf(costs));
  } finally {
    await cluster.stop();
  }
  return 0;
});

/** Each variant is a kind of a group of its own. */
function changed(one: Written, { change }: Variant, index: number): Written {
  const written = structuredClone(one);
  change(written);
  const { definition, type } = written;
  const group = `v${index}.writes.example`;
  const { shortNames: _, categories: __, ...names } = definition.spec.names;
  definition.metadata = { name: `${names.plural}.${group}` };
  definition.spec = { ...definition.spec, group, names };
  return { ...written, type: { ...type, group } };
}

async function install({ kubectlRun }: Pick<Cluster, "kubectlRun">, subjects: readonly Subject[]): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "writes-"));
  const file = join(directory, "definitions.json");
  const items = subjects.map(({ written }) => written.definition);
  await writeFile(file, JSON.stringify({ apiVersion: "v1", kind: "List", items }));
  await kubectlRun(["create", `--filename=${file}`]);
  await kubectlRun(["wait", "--for=condition=Established", "--timeout=60s", `--filename=${file}`]);
  await rm(directory, { recursive: true });
}

/** The API server works on its schema for some seconds after a definition has come. */
async function idle({ url }: Pick<Cluster, "url">): Promise<void> {
  const pid = await apiServerAt(url);
  for (let calm = 0; calm < 2; ) {
    const before = await threadMilliseconds(pid);
    await sleep(2000);
    calm = (await threadMilliseconds(pid)) - before < 150 ? calm + 1 : 0;
  }
}

function tableOf(costs: ReadonlyMap<Variant, readonly Cost[]>): string {
  const median = (all: readonly Cost[], write: keyof Cost) =>
    percentile(
      all.map((cost) => cost[write]),
      0.5,
    ) ?? 0;
  const rows = variants.map((variant) => {
    const all = costs.get(variant) ?? [];
    const [create, patch, status] = [median(all, "create"), median(all, "patch"), median(all, "status")];
    return [variant.name, ...[create, patch, status, patch + status].map(text)];
  });
  return lines([["CPU ms of the API server for an object", "create", "patch", "status", "patch + status"], ...rows]);
}
