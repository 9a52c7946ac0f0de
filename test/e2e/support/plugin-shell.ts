import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OPERATOR } from "../../../tools/shared/operator.ts";
import type { World } from "../../support/world.ts";
import { Shell } from "./page.ts";

/**
 * Somebody with kubectl, its plug-in and the API key of the account, in the namespace of a world. Each page has another
 * name for that, so that one does not change what another one has made on a demo. The service is
 * https://api.gateway.example.
 */
export async function pluginShell(
  world: World,
  { env = {}, substitutions = new Map() }: { env?: Record<string, string>; substitutions?: Map<string, string> } = {},
): Promise<Shell & AsyncDisposable> {
  const directory = await mkdtemp(join(tmpdir(), "page-"));
  const tool = async (name: string, content: string) => {
    const path = join(directory, "bin", name);
    await writeFile(path, content);
    await chmod(path, 0o755);
  };
  await mkdir(join(directory, "bin"));
  await tool("kubectl", `#!/bin/sh\nexec ${world.cluster.kubectl} "$@"\n`);
  // as npm installs it: a link of this name that leads to the program
  await symlink(OPERATOR, join(directory, "kubectl-tunnelgateway"));
  await tool("kubectl-tunnelgateway", `#!/bin/sh\nexec ${process.execPath} ${directory}/kubectl-tunnelgateway "$@"\n`);
  await writeFile(join(directory, ".gateway-api-key"), world.simulator.apiKey);
  const kubeconfig = join(directory, "kubeconfig");
  const { stdout } = await world.cluster.kubectlRun(["config", "view", "--raw", "--flatten"]);
  await writeFile(kubeconfig, stdout);
  const shell = new Shell(directory, {
    env: {
      PATH: `${join(directory, "bin")}:${process.env["PATH"]}`,
      HOME: directory,
      KUBECONFIG: kubeconfig,
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? "",
      // other tests share the cluster
      WATCH_NAMESPACES: world.namespace,
      ...env,
    },
    substitutions: new Map([
      ["https://api.gateway.example", world.simulator.url],
      ...["orders", "stores", "places"].map((name): [string, string] => [name, world.namespace]),
      ...substitutions,
    ]),
  });
  await shell.run(`kubectl config set-context --current --namespace=${world.namespace}`);
  return Object.assign(shell, {
    async [Symbol.asyncDispose]() {
      shell.leave();
      await rm(directory, { recursive: true });
    },
  });
}
