import type { ClusterConfig, Config } from "../../config.ts";
import { customResources } from "../../kinds/index.ts";
import { wayToReadNamespaces } from "../../objects/way-to-read.ts";
import type { KubeClient } from "../../runtime/connection/client.ts";
import type { KubeObject, ResourceType } from "../../runtime/object.ts";
import {
  clusterGrants,
  commandGrants,
  dnsEndpointGrants,
  type Grant,
  installationGrants,
  leaseGrants,
  operatorGrants,
  secretWatchGrants,
  secretWriteGrants,
  stateGrants,
  unwatchedLeaseGrants,
} from "../../schema/access.ts";
import { forEachConcurrently } from "../cluster/concurrently.ts";
import { CommandError } from "../terminal/terminal.ts";

const reviews: ResourceType = {
  group: "authorization.k8s.io",
  version: "v1",
  plural: "selfsubjectaccessreviews",
  kind: "SelfSubjectAccessReview",
  namespaced: false,
};

type Review = KubeObject & { status?: { allowed?: boolean } };

/** One right that the operator needs; without a namespace, in all namespaces. */
interface Right {
  namespace: string | undefined;
  group: string;
  resource: string;
  subresource: string | undefined;
  name: string | undefined;
  verb: string;
}

/** Asks the API server about each right that the operator needs. */
export async function checkRights(
  client: KubeClient,
  scope: Pick<ClusterConfig, "watchNamespaces" | "podNamespace" | "installation"> &
    Pick<Config, "leaderElection" | "watchSecrets" | "secretWriteNamespaces"> &
    Partial<Pick<Config, "externalDNS">>,
): Promise<string> {
  const rights = neededRights(scope);
  const refused: Right[] = [];
  await forEachConcurrently(rights, async (right) => {
    if (!(await isAllowed(client, right))) refused.push(right);
  });
  const refusal = refusalOf(refused, rights);
  if (refusal) throw new CommandError(refusal[0], { details: refusal.slice(1) });
  return `all ${rights.length} are granted`;
}

/** Undefined: nothing is refused. A namespace without any right is named alone: it may not exist. */
export function refusalOf(refused: readonly Right[], all: readonly Right[]): [string, ...string[]] | undefined {
  const of = (rights: readonly Right[], namespace: string | undefined) =>
    rights.filter((right) => right.namespace === namespace).length;
  const closed = new Set(all.flatMap(({ namespace }) => namespace ?? []));
  for (const namespace of closed) if (of(refused, namespace) < of(all, namespace)) closed.delete(namespace);
  const rows = refused.filter(({ namespace }) => namespace === undefined || !closed.has(namespace)).map(row);
  const parts = [
    ...Array.from(closed, (namespace) => `${wayToReadNamespaces([namespace])}: no right is granted there`),
    ...(rows.length > 0 ? ["grant the operator's service account:"] : []),
  ];
  const [first, ...rest] = parts;
  return first === undefined ? undefined : [first, ...rest.map((part) => `        ${part}`), ...rows.sort()];
}

export function neededRights({
  watchNamespaces,
  podNamespace,
  installation,
  leaderElection,
  watchSecrets,
  externalDNS = false,
  secretWriteNamespaces,
}: Parameters<typeof checkRights>[1]): Right[] {
  const everywhere = watchNamespaces.length === 0;
  const watched: (string | undefined)[] = everywhere ? [undefined] : [...watchNamespaces];
  const watchesHome = everywhere || watchNamespaces.includes(podNamespace ?? "");
  const atHome = [
    ...stateGrants(),
    ...(watchesHome ? [] : commandGrants(customResources)),
    ...(leaderElection ? leaseRights(installation, watchesHome) : []),
  ];
  const inEach = [
    ...operatorGrants(customResources),
    ...(watchSecrets ? secretWatchGrants() : []),
    ...(externalDNS ? dnsEndpointGrants() : []),
    ...(leaderElection ? installationGrants(installation, podNamespace ?? "") : []),
  ];
  return [
    ...watched.flatMap((namespace) => rightsOf(inEach, namespace)),
    ...(secretWriteNamespaces ?? watched).flatMap((namespace) =>
      rightsOf(secretWriteGrants(customResources), namespace),
    ),
    ...(everywhere ? rightsOf(clusterGrants(customResources), undefined) : []),
    ...(podNamespace ? rightsOf(atHome, podNamespace) : []),
  ];
}

const leaseRights = (installation: string, watchesHome: boolean): Grant[] => [
  ...leaseGrants(installation),
  ...(watchesHome ? [] : unwatchedLeaseGrants()),
];

function rightsOf(grants: readonly Grant[], namespace: string | undefined): Right[] {
  return grants.flatMap(({ rule }) =>
    rule.apiGroups.flatMap((group) =>
      rule.resources.flatMap((path) =>
        (rule.resourceNames ?? [undefined]).flatMap((name) =>
          rule.verbs.map((verb): Right => {
            const [resource = "", subresource] = path.split("/");
            // a Role in a namespace grants the right to read that namespace, by its name
            const isNamespace = resource === "namespaces" && group === "";
            return { namespace, group, resource, subresource, name: isNamespace ? namespace : name, verb };
          }),
        ),
      ),
    ),
  );
}

async function isAllowed(client: KubeClient, right: Right): Promise<boolean> {
  const review: Review = {
    apiVersion: "authorization.k8s.io/v1",
    kind: reviews.kind,
    metadata: { name: "" },
    spec: { resourceAttributes: right },
  };
  const { status } = await client.create(reviews, review, { repeatable: true });
  return status?.allowed === true;
}

function row({ namespace, group, resource, subresource, name, verb }: Right): string {
  const what = [group ? `${resource}.${group}` : resource, subresource].filter(Boolean).join("/");
  const which = name && resource !== "namespaces" ? ` "${name}"` : "";
  return `        ${verb} ${what}${which} in ${namespace ?? "all namespaces"}`;
}
