import { readClusterConfig } from "../../config.ts";
import { textOf } from "../../runtime/log.ts";
import { VERSION_LABEL } from "../../schema/contract.ts";
import { type ClusterFlags, connect } from "../cluster/connect.ts";
import { operatorLeases } from "../cluster/operators.ts";
import { isHeld } from "../cluster/running-operator.ts";
import { type OutputFlags, print } from "../terminal/output.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { commit, version } from "../version.ts";

interface Operator {
  namespace: string;
  leader: string;
  version?: string;
}

/** `version`: that of this program, and of the operators that lead in the cluster. Exit code 0, also without a cluster. */
export async function showVersion(flags: ClusterFlags & OutputFlags, terminal: Terminal): Promise<number> {
  const problems: string[] = [];
  const operators = await operatorsIn(flags).catch((error: unknown) => {
    problems.push(`What runs in the cluster is not known: ${textOf(error)}`);
    return undefined;
  });
  const [own, from] = await Promise.all([version(), commit()]);
  print(
    {
      value: () => ({ version: own, ...(from && { commit: from }), ...(operators && { operators }) }),
      lines: () => [from ? `${own}, commit ${from}` : own, ...linesOf(operators)],
    },
    flags,
    terminal,
  );
  for (const problem of problems) terminal.warn(problem);
  return 0;
}

async function operatorsIn(flags: ClusterFlags): Promise<Operator[]> {
  const { kubeconfig, context } = flags;
  const config = readClusterConfig();
  await using cluster = connect({ ...config, kubeconfig: kubeconfig ?? config.kubeconfig, context });
  const leases = await operatorLeases(cluster.client, { deadlineSeconds: 5 });
  return leases
    .filter(({ spec }) => isHeld(spec, Date.now()))
    .map(({ metadata: { namespace = "", labels }, spec: { holderIdentity: leader = "" } = {} }) => {
      const said = labels?.[VERSION_LABEL];
      return { namespace, leader, ...(said && { version: said }) };
    });
}

function linesOf(operators: readonly Operator[] | undefined): string[] {
  if (operators?.length === 0) return ["No operator leads in the cluster"];
  return (operators ?? []).map(
    ({ namespace, leader, version: said }) =>
      `Operator in namespace ${namespace}: ${said ?? "an earlier version"}, ${leader}`,
  );
}
