import { randomInt } from "node:crypto";
import { existsSync } from "node:fs";
import { installKinds } from "../cluster/install-kinds.ts";
import { startCluster } from "../cluster/start.ts";
import { INTERRUPTED, onInterrupt } from "../shared/interrupt.ts";
import { type Arguments, readArguments, USAGE, UsageError } from "./arguments.ts";
import { soak } from "./run.ts";
import { judged, table } from "./table.ts";
import { verdicts } from "./verdict.ts";

async function main(args: Arguments): Promise<boolean> {
  if (!existsSync(args.operator)) throw new UsageError(`${args.operator} is not there: npm run build makes it`);
  const tell = (line: string) => console.error(line);
  const cluster = await startCluster({ onProgress: tell });
  try {
    await installKinds(cluster);
    const { samples, calm, rest } = await soak({ ...args, cluster, tell });
    const all = verdicts(samples, rest);
    console.log(`\n${table(samples)}\n\nAt rest:\n${table(calm, 6)}\n\n${judged(all)}`);
    return all.every(({ kept }) => kept);
  } finally {
    await cluster.stop();
  }
}

// an exit, unlike a signal, ends what was started
onInterrupt(() => process.exit(INTERRUPTED));

try {
  const args = readArguments(process.argv.slice(2), randomInt(2 ** 31));
  if (args.help) console.log(USAGE);
  else if (!(await main(args))) process.exitCode = 1;
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  console.error(`${error.message}\n\n${USAGE}`);
  process.exitCode = 2;
}
