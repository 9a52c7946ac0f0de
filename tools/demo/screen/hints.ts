import { type Line, line } from "./line.ts";

export interface Place {
  readonly kubeconfig: string;
  /** A folder with kubectl and its plug-in. */
  readonly bin: string;
  readonly namespace: string;
  readonly serviceURL: string;
  readonly apiKeyFile: string;
  readonly operatorURL: string;
  readonly operatorLog: string;
  /** Of the page of the account. */
  readonly pageAddress: string;
  /** Remote id of TunnelGroupBackend/database. */
  readonly backendID: string;
  /** A manifest of an AgentCommand. */
  readonly restart: string;
  readonly resyncSeconds: number;
  /** Whether external-dns makes the record of ReservedDomain/shop. */
  readonly hasDNS: boolean;
}

/**
 * Commands to try in another terminal. A command that is longer than a terminal goes on in the next line. All objects
 * are in the namespace of the demo: the manifests of the README and of the pages go to other namespaces, and have names
 * that an import gives too.
 */
export function hints(place: Place): Line[] {
  const { namespace, serviceURL } = place;
  const lookNow = [
    command(`kubectl -n ${namespace} annotate gwtg database --overwrite \\`),
    command("  tunnelgateway.dev/reconcile-requested-at=$(date +%s%N)"),
  ];
  const edit = `-p '{"spec":{"description":"Git"}}'`;
  return [
    title("Look at it in your browser: what is well, what uses what, what needs you"),
    command(place.pageAddress),

    title("Try next, in another terminal. These lines come first"),
    command(`export KUBECONFIG=${place.kubeconfig}`),
    command(`export PATH=${place.bin}:$PATH`),
    command(`export GATEWAY_BASE_URL=${serviceURL}`),
    command(`export GATEWAY_API_KEY_FILE=${place.apiKeyFile}`),

    title("See how all is, what hangs together, and why something is as it is"),
    command("kubectl tunnelgateway status -A"),
    command(`kubectl tunnelgateway tree -n ${namespace} tlsedge/shop`),
    command(`kubectl tunnelgateway why -n ${namespace} tlsedge/shop`),

    title("See a change before it happens, then make it"),
    command(`kubectl -n ${namespace} patch gwtcp git --type=merge --dry-run=client -o yaml \\`),
    command(`  ${edit} | kubectl tunnelgateway plan -f -`),
    command(`kubectl -n ${namespace} patch gwtcp git --type=merge \\`),
    command(`  ${edit}`),

    title("Take over what somebody has made by hand"),
    command(`kubectl tunnelgateway import -n ${namespace} --all -o account`),
    command(`kubectl -n ${namespace} apply -f account`),

    title(`Change the account by hand: it differs for ${place.resyncSeconds} s, or until you ask`),
    command(`curl -sw '\\n' ${serviceURL}/_control/patch \\`),
    command(`  -d '["${place.backendID}", {"labels":{"app":"mine"}}]'`),
    command(`kubectl tunnelgateway diff -n ${namespace} gwtg/database`),
    ...lookNow,

    ...(place.hasDNS ? dnsHints(namespace) : []),

    title("See who is online, and restart an agent: it comes back as another"),
    command(`kubectl -n ${namespace} get gwts`),
    command(`kubectl -n ${namespace} create -f ${place.restart}`),
    command(`kubectl -n ${namespace} get gwcmd,gwts`),

    title("Take the service away, and bring it back"),
    command(`curl -sw '\\n' ${serviceURL}/_control/outage -d '[true]'`),
    ...lookNow,
    command(`curl -sw '\\n' ${serviceURL}/_control/outage -d '[false]'`),

    title("See who would notice, and delete it: it waits, and why says for what"),
    command(`kubectl tunnelgateway users -n ${namespace} ippolicy/office`),
    command(`kubectl -n ${namespace} delete ippolicy office --wait=false`),
    command(`kubectl tunnelgateway why -n ${namespace} ippolicy/office`),

    title("With kubectl alone"),
    command("kubectl get tunnelgateway -A"),
    command(`kubectl -n ${namespace} describe gwtcp database`),
    command("kubectl explain tcpedge.spec"),

    title("More"),
    command("the pages in docs/how-to: their commands work as printed on a new demo"),
    command(`metrics: ${place.operatorURL}/metrics`),
    command(`log: ${place.operatorLog}`),
  ];
}

const dnsHints = (namespace: string): Line[] => [
  title("Delete a domain: its record goes first, then the domain, in a minute"),
  command(`kubectl -n ${namespace} get dnsendpoint reserveddomain-shop -o yaml`),
  command(`kubectl -n ${namespace} delete gwrd shop --wait=false`),
];

const title = (text: string): Line => line(`\n  ${text}`, "bold");
const command = (text: string): Line => line(`    ${text}`);
