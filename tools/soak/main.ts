import { randomInt } from "node:crypto";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { installKinds } from "../cluster/install-kinds.ts";
import { startCluster } from "../cluster/start.ts";
import { runProgram, UsageError } from "../shared/program.ts";
import { program } from "./arguments.ts";
import { soak } from "./run.ts";
import { table, verdictTable } from "./table.ts";
import { verdicts } from "./verdict.ts";

await runProgram(program, async ({ operator, seed = randomInt(2 ** 31), ...options }) => {
  if (!existsSync(operator)) throw new UsageError(`${operator} is not there: npm run bundle makes it`);
  const tell = (line: string) => console.error(line);
  const cluster = await startCluster({ onProgress: tell });
  try {
    await installKinds(cluster);
    const { samples, atRest, rest } = await soak({ ...options, operator: resolve(operator), seed, cluster, tell });
    const all = verdicts(samples, rest);
    console.log(`\n${table(samples)}\n\nAt rest:\n${table(atRest, 6)}\n\n${verdictTable(all)}`);
    return all.every(({ kept }) => kept) ? 0 : 1;
  } finally {
    await cluster.stop();
  }
});
