import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { stringify } from "yaml";

const PLUGIN = resolve(import.meta.dirname, "../../bin/kubectl-tunnelgateway");

export interface Toolbox {
  /** Has a kubectl and its plug-in, for the PATH of a person. */
  readonly bin: string;
  /** A manifest of an AgentCommand that restarts the agent of a session. */
  readonly restart: string;
}

/** Puts into a folder what a person needs in another terminal. */
export async function makeToolbox(
  folder: string,
  { kubectl, session }: { kubectl: string; session: string },
): Promise<Toolbox> {
  const [bin, restart] = [join(folder, "bin"), join(folder, "restart.yaml")];
  await mkdir(bin);
  await symlink(kubectl, join(bin, "kubectl"));
  await symlink(PLUGIN, join(bin, "kubectl-tunnelgateway"));
  const command = {
    apiVersion: "tunnelgateway.dev/v1",
    kind: "AgentCommand",
    metadata: { name: "restart" },
    spec: { command: "Restart", sessionRef: { name: session } },
  };
  await writeFile(restart, stringify(command));
  return { bin, restart };
}
