import { existsSync } from "node:fs";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { Child } from "../shared/child.ts";
import { sourcesOn } from "./build/source.ts";
import type { Cluster } from "./cluster.ts";
import { startControlPlane } from "./control-plane.ts";
import { factsOfThisMachine } from "./facts.ts";
import { processesWith, runningAmong } from "./processes/process-table.ts";
import { startCluster } from "./start.ts";

const [{ from }] = sourcesOn(await factsOfThisMachine());
const ours = from === "assets" || from === "binaries";

const settled = { interval: 100 };

async function ownCluster(): Promise<Cluster & { directory: string }> {
  const cluster = await startCluster();
  onTestFinished(() => cluster.stop());
  return { ...cluster, directory: dirname(cluster.kubeconfig) };
}

/** Pids of the components of the cluster in a directory, and of their supervisor. */
async function pidsOf(directory: string): Promise<{ supervisor: number; all: number[] }> {
  const components = await processesWith(directory);
  expect(components.length).toBeGreaterThanOrEqual(2);
  const [supervisor, ...others] = [...new Set(components.map(({ parent }) => parent))];
  expect(others).toEqual([]);
  return { supervisor: supervisor as number, all: [supervisor as number, ...components.map(({ pid }) => pid)] };
}

async function expectNothingLeft(directory: string, pids: number[]): Promise<void> {
  await expect.poll(() => runningAmong(pids), settled).toEqual([]);
  await expect.poll(() => existsSync(directory), settled).toBe(false);
}

describe.runIf(ours)("a cluster of our own", () => {
  test("leaves no process and no directory after stop, which may be called again", async () => {
    const { directory, stop } = await ownCluster();
    const { all } = await pidsOf(directory);

    await stop();
    expect(existsSync(directory)).toBe(false);
    expect(await runningAmong(all)).toEqual([]);
    await stop();
  });

  test("leaves nothing when the process that started it is killed", async () => {
    const parent = new Child(join(import.meta.dirname, "main.ts"));
    onTestFinished(async () => {
      await parent.stop("SIGKILL");
    });
    const line = await parent.said("export KUBECONFIG=");
    const directory = dirname(line.replace("export KUBECONFIG=", ""));
    const { all } = await pidsOf(directory);

    await parent.stop("SIGKILL");
    await expectNothingLeft(directory, all);
  });

  test("leaves nothing when its supervisor is killed", async () => {
    const { directory, stop } = await ownCluster();
    const { all, supervisor } = await pidsOf(directory);

    process.kill(supervisor, "SIGKILL");
    await expectNothingLeft(directory, all);
    await stop();
  });

  test("keeps its objects while the API server is killed, stopped or frozen", async () => {
    const { kubectlRun, startAPIServer, stopAPIServer } = await ownCluster();
    if (!startAPIServer || !stopAPIServer) throw new Error("the control plane is ours, but cannot be stopped");
    const path = "/api/v1/namespaces/default/configmaps/kept";
    const read = () => kubectlRun(["get", "--raw", path, "--request-timeout=2s"], { allowFailure: true });
    await kubectlRun(["create", "configmap", "kept"]);

    for (const signal of ["SIGKILL", "SIGTERM", "SIGSTOP"] as const) {
      await stopAPIServer(signal);
      expect(await read(), signal).toMatchObject({ code: 1 });
      await startAPIServer();
      expect(await read(), signal).toMatchObject({ code: 0 });
    }
  });

  test("can be given up while it starts", async () => {
    const signal = AbortSignal.timeout(500);
    await expect(startCluster({ signal })).rejects.toMatchObject({ name: "TimeoutError" });
  });
});

describe("a component that fails to start", () => {
  test("is named with the last lines of its log, and takes the others with it", async () => {
    const folder = await mkdtemp(join(tmpdir(), "broken-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const etcd = await script(folder, "etcd", "sleep 600");
    const apiServer = await script(folder, "kube-apiserver", `echo "in $PWD"; echo "cannot read the flag" >&2; exit 3`);

    const failure = await startControlPlane({ etcd, "kube-apiserver": apiServer }, {}).catch((error: Error) => error);
    expect(failure).toBeInstanceOf(Error);
    const { message } = failure as Error;
    expect(message).toMatch(/^kube-apiserver failed to start: .*exit code 3/);
    expect(message).toContain("cannot read the flag");
    const directory = message.match(/^in (.*)$/m)?.[1] ?? "";
    expect(directory).toContain("tunnel-gateway-cluster-");
    expect(existsSync(directory)).toBe(false);
    expect(await processesWith(folder)).toEqual([]);
  });
});

async function script(folder: string, name: string, body: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, `#!/bin/sh\n${body}\n`);
  await chmod(path, 0o755);
  return path;
}
