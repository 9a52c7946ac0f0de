import { onInterrupt } from "../shared/interrupt.ts";
import { startCluster } from "./start.ts";

const interrupted = new AbortController();
const ended = new Promise<void>((resolve) => {
  onInterrupt(() => {
    interrupted.abort();
    resolve();
  });
});

try {
  const cluster = await startCluster({ onProgress: (line) => console.error(line), signal: interrupted.signal });
  console.log(`export KUBECONFIG=${cluster.kubeconfig}\nalias kubectl=${cluster.kubectl}`);
  console.error("stays until Ctrl-C");
  await ended;
  await cluster.stop();
} catch (error) {
  if (!interrupted.signal.aborted) throw error;
}
