import * as z from "zod";
import { GROUP, leaseCopyNameOf, leaseNameOf, STATE_SECRET } from "./contract.ts";
import { type CustomResource, isMadeByOperator } from "./define.ts";
import { type Traits, traitsOf, unwrap } from "./traits.ts";

/** A rule of a Role or ClusterRole. */
export interface PolicyRule {
  apiGroups: readonly string[];
  resources: readonly string[];
  verbs: readonly string[];
  resourceNames?: readonly string[];
}

/** A rule and what it is needed for. */
export interface Grant {
  use: string;
  rule: PolicyRule;
}

/** Rights of the operator in each namespace that it watches. */
export function operatorGrants(customResources: readonly CustomResource[]): Grant[] {
  const reads = (wanted: (traits: Traits) => boolean) => customResources.some(({ spec }) => hasTrait(spec, wanted));
  return [
    ...objectGrants(customResources),
    ...grantIf(
      reads(({ secret, secretName }) => secret !== undefined || secretName !== undefined),
      { use: "Read, by name, the Secrets that specs refer to", rule: core("secrets", "get") },
    ),
    ...grantIf(
      reads(({ configMap }) => configMap === true),
      { use: "Read, by name, the ConfigMaps that specs refer to", rule: core("configmaps", "get") },
    ),
    {
      use: "See whether a namespace is going away; the uid of kube-system names the cluster",
      rule: core("namespaces", "get"),
    },
    events,
  ];
}

/** Further rights when the operator watches all namespaces. Only then may it read cluster-scoped resources. */
export function clusterGrants(customResources: readonly CustomResource[]): Grant[] {
  return [
    {
      use: "See whether a kind is going away: then the account keeps everything",
      rule: {
        apiGroups: ["apiextensions.k8s.io"],
        resources: ["customresourcedefinitions"],
        resourceNames: plurals(customResources).map((plural) => `${plural}.${GROUP}`),
        verbs: ["get"],
      },
    },
  ];
}

/** Further rights in the namespaces of `SECRET_WRITE_NAMESPACES`. */
export function secretWriteGrants(customResources: readonly CustomResource[]): Grant[] {
  const verbs = [...new Set(customResources.flatMap((one) => one.secretAccess))].sort();
  const use = "Write results to Secrets, and hold on to those that are needed";
  return grantIf(verbs.length > 0, { use, rule: core("secrets", ...verbs) });
}

/** Further rights with `WATCH_SECRETS`. RBAC cannot limit a right to the metadata of Secrets. */
export const secretWatchGrants = (): Grant[] => [
  { use: "See at once that a Secret has changed; only metadata is asked for", rule: core("secrets", "list", "watch") },
];

/** Further rights where DNSEndpoints are written for external-dns. */
export const dnsEndpointGrants = (): Grant[] => [
  {
    use: "Write DNSEndpoints, from which external-dns makes the records of domains",
    rule: {
      apiGroups: ["externaldns.k8s.io"],
      resources: ["dnsendpoints"],
      verbs: ["get", "create", "patch", "delete"],
    },
  },
];

/** Further rights of the command `uninstall` with the policy `retain` there. */
export const dnsEndpointKeepGrants = (): Grant[] => [
  {
    use: "Keep DNSEndpoints, and so the records of domains that stay",
    rule: { apiGroups: ["externaldns.k8s.io"], resources: ["dnsendpoints"], verbs: ["get", "patch"] },
  },
];

/** Rights in the operator's own namespace when it watches other namespaces only. */
export const commandGrants = (customResources: readonly CustomResource[]): Grant[] => [
  ...objectGrants(customResources.filter(({ namespaces }) => namespaces === "watched and own")),
  events,
];

const events: Grant = {
  use: "Tell of transitions, and count repetitions",
  rule: { apiGroups: ["events.k8s.io"], resources: ["events"], verbs: ["create", "patch"] },
};

const lease = { apiGroups: ["coordination.k8s.io"], resources: ["leases"] };

/** Rights of leader election in the operator's own namespace. */
export const leaseGrants = (installation: string): Grant[] => [
  { use: "Hold the Lease", rule: { ...lease, resourceNames: [leaseNameOf(installation)], verbs: ["get", "update"] } },
];

/** Further rights of leader election there, unless that namespace is watched too. */
export const unwatchedLeaseGrants = (): Grant[] => [
  { use: "See whether another installation has the same objects", rule: { ...lease, verbs: ["list"] } },
  {
    use: "Make the Lease, or copies of it, for others to see: a create cannot be limited to a name",
    rule: { ...lease, verbs: ["create"] },
  },
];

/** Rights in each watched namespace with leader election. `home` is the operator's own namespace. */
export const installationGrants = (installation: string, home: string): Grant[] => [
  ...unwatchedLeaseGrants(),
  {
    use: "Renew the copy of the Lease, and delete it at the end",
    rule: { ...lease, resourceNames: [leaseCopyNameOf(installation, home)], verbs: ["patch", "delete"] },
  },
];

/** Rights in the operator's own namespace for the Secret with the key for digests of API keys, and the state that outlives a process. */
export function stateGrants(): Grant[] {
  const secret = { apiGroups: [""], resources: ["secrets"] };
  return [
    {
      use: "Make the key for digests of API keys: a create cannot be limited to a name",
      rule: { ...secret, verbs: ["create"] },
    },
    {
      use: "Read that key, and note that it is in use",
      rule: { ...secret, resourceNames: [STATE_SECRET], verbs: ["get", "patch"] },
    },
  ];
}

/** Rights of the command `uninstall` in each watched namespace, by its policy. */
export function uninstallGrants(customResources: readonly CustomResource[]): Record<"retain" | "delete", Grant[]> {
  const installed = customResources.filter((one) => !isMadeByOperator(one));
  const all = plurals(installed);
  // uninstall removes finalizers, and only objects that the operator may patch can have one
  const withFinalizer = plurals(installed.filter(({ access }) => access.includes("patch")));
  return {
    retain: [
      { use: "Find objects", rule: onKinds(all, ["list"]) },
      { use: "Take the operator's finalizer off", rule: onKinds(withFinalizer, ["patch"]) },
      {
        use: "Take it off the Secrets of accounts, and keep Secrets with a token",
        rule: core("secrets", "get", "patch"),
      },
    ],
    delete: [
      { use: "Delete objects and wait until they are gone", rule: onKinds(all, ["list", "delete"]) },
      { use: "Release those whose remotes stay in use", rule: onKinds(withFinalizer, ["patch"]) },
    ],
  };
}

/** Further rights of the command `uninstall` in each watched namespace. `home` is the operator's own namespace. */
export const uninstallLeaseGrants = (installation: string, home: string): Grant[] => [
  { use: "Find copies of the operator's Lease", rule: { ...lease, verbs: ["list"] } },
  {
    use: "Delete them: an operator that was killed has left them",
    rule: { ...lease, resourceNames: [leaseCopyNameOf(installation, home)], verbs: ["delete"] },
  },
];

/** Rules that are aggregated into the roles view and edit of a cluster. `account` is for people who own the account. */
export function accessGrants(customResources: readonly CustomResource[]): Record<"view" | "edit" | "account", Grant[]> {
  const write = ["create", "update", "patch", "delete", "deletecollection"];
  const unprivileged = customResources.filter((one) => one.privilege === undefined && !isMadeByOperator(one));
  const privileged = customResources.filter(({ privilege }) => privilege !== undefined);
  return {
    view: [{ use: "Look", rule: onKinds(plurals(customResources), ["get", "list", "watch"]) }],
    edit: [{ use: "Change", rule: onKinds(plurals(unprivileged), write) }],
    account: privileged.map((one) => ({ use: one.privilege ?? "", rule: onKinds([one.plural], write) })),
  };
}

function objectGrants(customResources: readonly CustomResource[]): Grant[] {
  const groups = Map.groupBy(customResources, ({ access }) => access.join());
  const byAccess = [...groups.values()].map((group) => ({
    use: "Follow objects, and change what is not their spec",
    rule: onKinds(plurals(group), group[0]?.access ?? []),
  }));
  const statuses = customResources.map(({ plural }) => `${plural}/status`);
  return [...byAccess, { use: "Say in the status how it went", rule: onKinds(statuses, ["patch"]) }];
}

const plurals = (definitions: readonly { plural: string }[]): string[] => definitions.map(({ plural }) => plural);

const onKinds = (resources: readonly string[], verbs: readonly string[]): PolicyRule => ({
  apiGroups: [GROUP],
  resources: [...resources].sort(),
  verbs,
});

const core = (resource: string, ...verbs: string[]): PolicyRule => ({ apiGroups: [""], resources: [resource], verbs });

const grantIf = (needed: boolean, grant: Grant): Grant[] => (needed ? [grant] : []);

/** Whether a field, at any depth, has traits that `wanted` accepts. */
function hasTrait(schema: z.ZodType, wanted: (traits: Traits) => boolean): boolean {
  if (wanted(traitsOf(schema))) return true;
  const inner = unwrap(schema);
  if (inner instanceof z.ZodArray) return hasTrait(inner.element as z.ZodType, wanted);
  if (!(inner instanceof z.ZodObject)) return false;
  return Object.values(inner.shape).some((member) => hasTrait(member as z.ZodType, wanted));
}
