import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Cluster } from "../cluster/cluster.ts";
import { installKinds } from "../cluster/install-kinds.ts";
import { startCluster } from "../cluster/start.ts";
import { runProgram, UsageError, type Values } from "../shared/program.ts";
import { program } from "./arguments.ts";
import { type Figures, medians } from "./figures.ts";
import { heapLimit } from "./image.ts";
import { preparePeer } from "./peer.ts";
import { usualPace } from "./phases/pace.ts";
import { runBench } from "./run.ts";
import { usualDriftPace } from "./scarce/drift.ts";
import { runScarce } from "./scarce/scarce.ts";
import { details, ratioBars, ratioTable, table, verdictTable } from "./table.ts";
import { verdicts } from "./targets.ts";

type Options = Values<(typeof program)["options"]>;

// A long run may be broken off, so everything is shown that there is.
const onFigures = (one: Figures): void => console.error(`\n${table([one])}\n${details([one])}`);

const nodeFlags = async ({ limited }: Pick<Options, "limited">): Promise<string[]> =>
  limited ? [await heapLimit()] : [];

async function allPhases(options: Options, cluster: Cluster): Promise<Figures[]> {
  const { operator, peer, latency: latencies, trickleSeconds: trickle } = options;
  return runBench({
    ...options,
    cluster,
    latencies,
    pace: { ...usualPace, trickle },
    operator: { main: resolve(operator) },
    peer: peer ? await preparePeer(cluster) : undefined,
    nodeFlags: await nodeFlags(options),
    onFigures,
  });
}

async function besideCrossplane(options: Options, cluster: Cluster): Promise<Figures[]> {
  const provider = await preparePeer(cluster, "crossplane");
  return runScarce({
    cluster,
    objects: options.crossplaneObjects,
    allowed: options.allowed,
    seconds: options.minutes * 60,
    pace: usualDriftPace,
    operator: { main: resolve(options.operator) },
    peer: { ...provider, env: { POLL_INTERVAL: options.poll } },
    nodeFlags: await nodeFlags(options),
    onFigures,
  });
}

await runProgram(program, async (options) => {
  const { json } = options;
  if (!existsSync(options.operator)) throw new UsageError(`${options.operator} is not there: npm run bundle makes it`);
  const baseline: Figures[] = options.baseline ? JSON.parse(await readFile(options.baseline, "utf8")).figures : [];
  const cluster = await startCluster({ onProgress: (line) => console.error(line) });
  try {
    await installKinds(cluster);
    const runs = await (options.crossplane ? besideCrossplane : allPhases)(options, cluster);
    const figures = medians(runs);
    const beside = [ratioTable(figures), ratioBars(figures)];
    const parts = [table(figures, baseline), ...beside, details(figures), verdictTable(verdicts(figures))];
    console.log(`\n${parts.filter((part) => part !== "").join("\n\n")}`);
    if (json) await writeFile(json, `${JSON.stringify({ figures, runs }, null, 2)}\n`);
  } finally {
    await cluster.stop();
  }
  return 0;
});
