import { join } from "node:path";
import type { Cluster } from "./cluster.ts";

const directory = join(import.meta.dirname, "../../crds");

/** Resolves with the names of the CRDs in crds/, once the API server serves their kinds. */
export async function installKinds({ kubectlRun }: Pick<Cluster, "kubectlRun">): Promise<string[]> {
  const apply = ["apply", "--server-side", "--force-conflicts"];
  const { stdout } = await kubectlRun([...apply, `--filename=${directory}`, "--output=name"]);
  const crds = stdout.split("\n").filter(Boolean);
  await kubectlRun(["wait", "--for=condition=Established", "--timeout=30s", ...crds]);
  return crds;
}
