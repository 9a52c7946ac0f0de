import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { installKinds } from "../cluster/install-kinds.ts";
import { startCluster } from "../cluster/start.ts";
import { runProgram, UsageError } from "../shared/program.ts";
import { program } from "./arguments.ts";
import { type Figures, medians } from "./figures.ts";
import { heapLimit } from "./image.ts";
import { preparePeer } from "./peer.ts";
import { usualPace } from "./phases/pace.ts";
import { runBench } from "./run.ts";
import { details, ratioBars, ratioTable, table, verdictTable } from "./table.ts";
import { verdicts } from "./targets.ts";

await runProgram(
  program,
  async ({ operator, peer, limited, latency: latencies, trickleSeconds: trickle, json, ...options }) => {
    if (!existsSync(operator)) throw new UsageError(`${operator} is not there: npm run bundle makes it`);
    const baseline: Figures[] = options.baseline ? JSON.parse(await readFile(options.baseline, "utf8")).figures : [];
    const cluster = await startCluster({ onProgress: (line) => console.error(line) });
    try {
      await installKinds(cluster);
      const other = peer ? await preparePeer(cluster) : undefined;
      const runs = await runBench({
        ...options,
        cluster,
        latencies,
        pace: { ...usualPace, trickle },
        operator: { main: resolve(operator) },
        peer: other,
        nodeFlags: limited ? [await heapLimit()] : [],
        // A long run may be broken off, so everything is shown that there is.
        onFigures: (one) => console.error(`\n${table([one])}\n${details([one])}`),
      });
      const figures = medians(runs);
      const beside = [ratioTable(figures), ratioBars(figures)];
      const parts = [table(figures, baseline), ...beside, details(figures), verdictTable(verdicts(figures))];
      console.log(`\n${parts.filter((part) => part !== "").join("\n\n")}`);
      if (json) await writeFile(json, `${JSON.stringify({ figures, runs }, null, 2)}\n`);
    } finally {
      await cluster.stop();
    }
    return 0;
  },
);
