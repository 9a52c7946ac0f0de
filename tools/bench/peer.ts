import { join } from "node:path";
import { buildTool } from "../cluster/build/build.ts";
import type { Report } from "../cluster/build/progress.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { peerTypes } from "./objects.ts";
import type { MeasuredOperator } from "./stage.ts";

const definitions = join(import.meta.dirname, "peer/crds.yaml");

/** Builds the operator that the bench compares with, and installs its definitions. */
export async function preparePeer(
  { kubectlRun }: Pick<Cluster, "kubectlRun">,
  options: Report = {},
): Promise<MeasuredOperator> {
  const { peer } = await buildTool("peer", options);
  await kubectlRun(["apply", "--server-side", `--filename=${definitions}`]);
  await kubectlRun(["wait", "--for=condition=Established", "--timeout=30s", `--filename=${definitions}`]);
  return { main: peer as string, isExecutable: true, types: peerTypes };
}
