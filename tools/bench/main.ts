import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { installKinds } from "../cluster/install-kinds.ts";
import { startCluster } from "../cluster/start.ts";
import { INTERRUPTED, onInterrupt } from "../shared/interrupt.ts";
import { type Arguments, readArguments, USAGE, UsageError } from "./arguments.ts";
import { type Figures, medians } from "./figures.ts";
import { usualPace } from "./phases/pace.ts";
import { runBench } from "./run.ts";
import { details, judged, table } from "./table.ts";
import { verdicts } from "./targets.ts";

async function main(args: Arguments): Promise<void> {
  if (!existsSync(args.operator)) throw new UsageError(`${args.operator} is not there: npm run build makes it`);
  const baseline: Figures[] = args.baseline ? JSON.parse(await readFile(args.baseline, "utf8")).figures : [];
  const cluster = await startCluster({ onProgress: (line) => console.error(line) });
  try {
    await installKinds(cluster);
    const pace = { ...usualPace, trickle: args.trickleSeconds };
    const runs = await runBench({ ...args, cluster, pace, onFigures: (one) => console.error(`\n${table([one])}`) });
    const figures = medians(runs);
    console.log(`\n${table(figures, baseline)}\n\n${details(figures)}\n\n${judged(verdicts(figures))}`);
    if (args.json) await writeFile(args.json, `${JSON.stringify({ figures, runs }, null, 2)}\n`);
  } finally {
    await cluster.stop();
  }
}

// an exit, unlike a signal, ends what was started
onInterrupt(() => process.exit(INTERRUPTED));

try {
  const args = readArguments(process.argv.slice(2));
  if (args.help) console.log(USAGE);
  else await main(args);
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  console.error(`${error.message}\n\n${USAGE}`);
  process.exitCode = 2;
}
