import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { processesWith, runningAmong } from "../../../tools/cluster/processes/process-table.ts";
import { manifest } from "../../../tools/shared/objects.ts";
import { environmentOf, undisturbed } from "../../../tools/shared/operator.ts";
import { useWorld } from "../../support/world.ts";

// so slow that a signal finds a request under way
const world = useWorld({ startOperator: false, simulator: { latencyMs: 500 } });

/** In a process group of its own, as a shell starts it in a terminal. */
function npmStart(): ChildProcess {
  const settings = { kubeconfig: world.cluster.kubeconfig, gateway: world.simulator, namespaces: [world.namespace] };
  return spawn("npm", ["start", "--", "run"], {
    cwd: join(import.meta.dirname, "../../.."),
    env: { ...process.env, ...environmentOf({ ...settings, env: undisturbed }), NPM_CONFIG_UPDATE_NOTIFIER: "false" },
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  });
}

// guards against a shell between npm and the operator that does not pass signals on, so that the operator runs on
test.each<[what: string, name: string, end: (npm: number) => void]>([
  ["SIGTERM to npm", "terminated", (npm) => process.kill(npm, "SIGTERM")],
  ["Ctrl-C, which npm and the operator get both", "interrupted", (npm) => process.kill(-npm, "SIGINT")],
])("npm start -- run stops the operator in order at %s", async (_, name, end) => {
  const npm = npmStart();
  const pid = npm.pid as number;
  onTestFinished(() => {
    if (npm.exitCode === null && npm.signalCode === null) process.kill(-pid, "SIGKILL");
  });
  if (!npm.stdout) throw new Error("npm has no output");
  let printed = "";
  npm.stdout.on("data", (chunk) => {
    printed += chunk;
  });
  await world.until("the operator is at work", async () => printed.includes('"msg":"Started"'));
  const operators = (await processesWith("src/main.ts")).filter(({ parent }) => parent === pid);
  expect(operators).toHaveLength(1);

  const creates = () => world.simulator.control.count({ method: "POST" });
  const before = creates();
  await world.kube.apply(manifest("IPPolicy", name, {}));
  await world.until("a create is under way", async () => creates() > before);
  end(pid);
  const [code] = await once(npm, "close");
  expect(code).toBe(0);
  expect(await runningAmong(operators.map((operator) => operator.pid))).toEqual([]);
  expect(printed).toMatch(/"drained":true.*"msg":"Stopped"/);
  expect((await world.get("IPPolicy", name))?.status.id).toMatch(/^ipp_/);
});
