import { columns, type Line, line } from "./line.ts";

export interface Place {
  readonly kubeconfig: string;
  readonly kubectl: string;
  readonly namespace: string;
  readonly serviceURL: string;
  readonly apiKeyFile: string;
  readonly operatorURL: string;
  readonly operatorLog: string;
  /** Remote id of TunnelGroupBackend/database. */
  readonly backendID: string;
  /** Name of the TunnelSession of an agent that can restart. */
  readonly session: string;
  readonly resyncSeconds: number;
  /** Whether external-dns makes the record of ReservedDomain/shop. */
  readonly hasDNS: boolean;
}

/** Commands to try in another terminal. */
export function hints(place: Place): Line[] {
  const { namespace, serviceURL } = place;
  const control = `${serviceURL}/_control`;
  return [
    title("Try next, in another terminal"),
    command(`export KUBECONFIG=${place.kubeconfig}`),
    command(`alias kubectl=${place.kubectl}`),
    command("kubectl get tunnelgateway -A"),
    command(`kubectl -n ${namespace} describe gwtcp database`),
    command("kubectl explain tcpedge.spec"),

    title("Edit, and see the account follow"),
    command(`kubectl -n ${namespace} patch gwtcp git --type=merge -p '{"spec":{"description":"Git over SSH"}}'`),

    title("Delete: the first goes at once, the second waits until no edge refers to it"),
    command(`kubectl -n ${namespace} delete gwesrc changed-policies`),
    command(`kubectl -n ${namespace} delete gwipp office --wait=false; kubectl -n ${namespace} get gwipp -o wide`),

    ...(place.hasDNS ? dnsHints(namespace) : []),

    title(
      `Change the account behind the operator's back: put right within ${place.resyncSeconds} s, or at once when asked`,
    ),
    call(`${control}/patch -d '["${place.backendID}", {"labels": {"app": "mine"}}]'`),
    command(
      `kubectl -n ${namespace} annotate gwtg database --overwrite tunnelgateway.dev/reconcile-requested-at=$(date +%s)`,
    ),
    call(`${control}/get -d '["${place.backendID}"]'`),

    title("See who is online, and restart an agent: it comes back as another session"),
    command(`kubectl -n ${namespace} get gwts`),
    command(
      `kubectl -n ${namespace} create -f - <<< '{"apiVersion":"tunnelgateway.dev/v1","kind":"AgentCommand",` +
        `"metadata":{"name":"restart"},"spec":{"command":"Restart","sessionRef":{"name":"${place.session}"}}}'`,
    ),
    command(`kubectl -n ${namespace} get gwcmd,gwts`),

    title("Take the service away, and bring it back: what is Ready stays Ready"),
    call(`${control}/outage -d '[true]'`),
    call(`${control}/outage -d '[false]'`),

    title("Where things are"),
    ...columns(
      [
        ["the account", control, "summary, objects, requests: tools/simulator/control/control.ts"],
        ["the service", serviceURL, `API key in ${place.apiKeyFile}`],
        ["the operator", `${place.operatorURL}/metrics`, `log in ${place.operatorLog}`],
      ].map((cells) => cells.map((text, at) => ({ text, style: at === 2 ? ("dim" as const) : undefined }))),
      4,
    ),
  ];
}

const dnsHints = (namespace: string): Line[] => [
  title("Delete a domain: external-dns removes the record first, and the account follows within a minute"),
  command(`kubectl -n ${namespace} get dnsendpoint reserveddomain-shop -o yaml`),
  command(`kubectl -n ${namespace} delete gwrd shop --wait=false`),
];

const title = (text: string): Line => line(`\n  ${text}`, "bold");
// echo, because answers do not end with a newline
const call = (what: string): Line => command(`curl -s ${what}; echo`);
const command = (text: string): Line => line(`    ${text}`);
