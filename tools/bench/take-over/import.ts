// Measures `import --all` of an account with many resources at the default request budget.
import { parseArgs } from "node:util";
import { runCommand } from "../../shared/operator.ts";
import { type Simulator, startSimulator } from "../../simulator/simulator.ts";
import { fill } from "./account.ts";

const { values } = parseArgs({ options: { resources: { type: "string", default: "3000" } } });

async function importAll({ url, apiKey }: Simulator): Promise<{ seconds: number; text: string; code: number }> {
  const startedAt = performance.now();
  const env = { KUBECONFIG: "/dev/null", GATEWAY_BASE_URL: url, GATEWAY_API_KEY: apiKey };
  const { stdout: text, stderr, code } = await runCommand(["import", "--all"], env);
  process.stderr.write(stderr);
  return { seconds: (performance.now() - startedAt) / 1000, text, code };
}

const simulator = await startSimulator();
fill(simulator, Number(values.resources));
simulator.control.clearRequests();
const first = await importAll(simulator);
const requests = simulator.control.requests();
const second = await importAll(simulator);
const objects = first.text.match(/^apiVersion: tunnelgateway/gm)?.length ?? 0;
const writes = requests.filter(({ method }) => method !== "GET").length;
console.log(
  `${objects} objects in ${first.seconds.toFixed(1)} s with ${requests.length} requests, ${writes} of them writes; ` +
    `the second import is ${first.text === second.text ? "equal" : "DIFFERENT"}`,
);
await simulator.stop();
process.exitCode = first.code || Number(first.text !== second.text || writes > 0);
