import type { Cluster } from "../cluster/cluster.ts";
import { Bind } from "../dns/bind.ts";
import { definition, ExternalDNS } from "../dns/external-dns.ts";
import { bindPrograms, howToGetBind } from "../dns/programs.ts";
import { NAMESPACE } from "./namespace.ts";
import type { Screen } from "./screen/screen.ts";
import { step } from "./steps.ts";

/** The zone of the domains in examples/. */
const ZONE = "example.com";

/**
 * Starts a BIND.
 *
 * @throws if this machine has none, or if the cluster may be that of others: an external-dns in it could take the
 * DNSEndpoints of the demo, and write their records into a real zone.
 */
export async function startBind(screen: Screen): Promise<Bind> {
  if (process.env["TEST_KUBECONFIG"]) throw new Error("Unset TEST_KUBECONFIG: --dns needs a cluster of its own");
  const programs = await bindPrograms();
  if (!programs) throw new Error(`For --dns, ${howToGetBind}`);
  return step(screen, {
    title: "DNS",
    work: () => Bind.start(programs, ZONE),
    outcome: ({ address }) => `BIND at ${address}, with the zone ${ZONE}`,
  });
}

/** Starts external-dns, which makes in BIND what the DNSEndpoints of the demo ask for. */
export function startExternalDNS(screen: Screen, cluster: Cluster, bind: Bind): Promise<ExternalDNS> {
  const { kubeconfig, kubectlRun } = cluster;
  return step(screen, {
    title: "external-dns",
    work: async (say) => {
      await kubectlRun(["apply", `--filename=${definition}`]);
      await kubectlRun(["wait", "--for=condition=Established", "--timeout=30s", `--filename=${definition}`]);
      return ExternalDNS.start({ kubeconfig, namespace: NAMESPACE, bind, onProgress: say });
    },
    outcome: () => `makes records in ${ZONE}, as DNSEndpoints ask for`,
  });
}
