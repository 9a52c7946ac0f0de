import { join } from "node:path";
import { buildTool } from "../cluster/build/build.ts";
import type { Report } from "../cluster/build/progress.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { crossplaneTypes, peerTypes } from "./objects.ts";
import type { MeasuredOperator } from "./stage.ts";

const peers = {
  peer: { folder: "peer", types: peerTypes },
  crossplane: { folder: "scarce/crossplane", types: crossplaneTypes },
};

/** Builds an operator that the bench compares with, and installs its definitions. */
export async function preparePeer(
  { kubectlRun }: Pick<Cluster, "kubectlRun">,
  name: keyof typeof peers = "peer",
  options: Report = {},
): Promise<MeasuredOperator> {
  const { folder, types } = peers[name];
  const definitions = join(import.meta.dirname, folder, "crds.yaml");
  const { [name]: main } = await buildTool(name, options);
  await kubectlRun(["apply", "--server-side", `--filename=${definitions}`]);
  await kubectlRun(["wait", "--for=condition=Established", "--timeout=30s", `--filename=${definitions}`]);
  return { main: main as string, isExecutable: true, types };
}
