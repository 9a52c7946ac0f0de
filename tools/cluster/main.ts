import { onInterrupt } from "../shared/interrupt.ts";
import { defineProgram, runProgram } from "../shared/program.ts";
import { reportTo } from "./build/progress.ts";
import { startCluster } from "./start.ts";

const program = defineProgram({
  command: "node_modules/.bin/node tools/cluster/main.ts",
  about:
    "Starts a Kubernetes API server and prints how to reach it. Stays until Ctrl-C, when it is stopped and removed.",
  options: {},
});

await runProgram(program, async () => {
  const interrupted = new AbortController();
  const ended = new Promise<void>((resolve) => {
    onInterrupt(() => {
      interrupted.abort();
      resolve();
    });
  });
  try {
    const cluster = await startCluster({ ...reportTo(process.stderr), signal: interrupted.signal });
    console.log(`export KUBECONFIG=${cluster.kubeconfig}\nalias kubectl=${cluster.kubectl}`);
    console.error("stays until Ctrl-C");
    await ended;
    await cluster.stop();
  } catch (error) {
    if (!interrupted.signal.aborted) throw error;
  }
  return 0;
});
