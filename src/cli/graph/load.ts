import { readAccountConfig } from "../../config.ts";
import type { Remote } from "../../gateway/resource.ts";
import { kinds } from "../../kinds/index.ts";
import type { ManagedObject } from "../../objects/object.ts";
import type { KubeClient } from "../../runtime/connection/client.ts";
import { isForbidden, isKindAbsent } from "../../runtime/connection/errors.ts";
import { textOf } from "../../runtime/log.ts";
import { customResourceOf } from "../../schema/common.ts";
import { DEFAULT_ACCOUNT } from "../../schema/contract.ts";
import type { Kind } from "../../schema/define.ts";
import { type AccountFlags, type Credentials, findCredentials } from "../account/credentials.ts";
import { AccountReader } from "../account/reader.ts";
import { connect } from "../connect.ts";
import { typeOf } from "../objects.ts";
import { CommandError, type Terminal } from "../terminal.ts";
import { type Graph, graphOf } from "./graph.ts";

export interface Loaded {
  graph: Graph;
  /** What could not be read, so that the graph is only a part. */
  problems: string[];
  /** The id of the cluster in owner marks; undefined where it cannot be read. */
  clusterID: string | undefined;
}

/** Reads the account, and all objects of the cluster whose remotes are in it. `listed`: kinds whose remotes are read. */
export async function load(flags: AccountFlags, terminal: Terminal, listed: readonly Kind[] = kinds): Promise<Loaded> {
  const problems: string[] = [];
  const credentials = await findCredentials(flags);
  const config = readAccountConfig({ KUBECONFIG: flags.kubeconfig });
  await using cluster = connect({ ...config, context: flags.context });
  const objects = await readObjects(cluster.client, { namespace: cluster.namespace, ...flags }, problems);
  const remotes = await readRemotes(credentials, terminal, problems, listed);
  const ours = new Map(
    [...objects].map(([kind, all]): [Kind, ManagedObject[]] => [kind, all.filter((one) => isIn(credentials, one))]),
  );
  return {
    graph: graphOf(remotes, ours),
    problems,
    clusterID: config.clusterID ?? (await clusterIDOf(cluster.client)),
  };
}

/** The remotes of each kind whose list can be read. Throws CommandError when none can. */
export async function readRemotes(
  credentials: Credentials,
  terminal: Terminal,
  problems: string[],
  listed: readonly Kind[] = kinds,
) {
  await using reader = new AccountReader(credentials);
  const remotes = new Map<Kind, Remote[]>();
  for (const kind of listed.filter(({ location }) => location.type === "collection")) {
    try {
      const show = (count: number) => terminal.progress?.(`Reading ${kind.resource.path}: ${count}`);
      remotes.set(kind, await reader.list(kind.resource, show));
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      problems.push(error.message);
    }
  }
  terminal.progress?.("");
  if (remotes.size === 0) throw new CommandError(problems[0] ?? "The account cannot be read");
  return remotes;
}

interface Scope {
  /** The one that is read where the user may not read all. */
  namespace: string;
  /** Only these are read. Default: all. */
  namespaces?: readonly string[];
}

/** Objects of all namespaces or of some; of one, where the user may not read all. */
export async function readObjects(client: KubeClient, { namespace, namespaces = [] }: Scope, problems: string[]) {
  const objects = new Map<Kind, ManagedObject[]>();
  const read = async (kind: Kind, where?: string): Promise<void> => {
    try {
      const { items } = await client.listAll<ManagedObject>(typeOf(customResourceOf(kind)), { namespace: where });
      objects.set(kind, [...(objects.get(kind) ?? []), ...items]);
    } catch (error) {
      if (isKindAbsent(error)) throw new CommandError("Install the CRDs: the cluster has no tunnelgateway.dev/v1");
      if (!isForbidden(error)) throw error;
      if (where !== undefined) {
        problems.push(`You need the right to list ${kind.plural} in namespace ${where}`);
        return;
      }
      problems.push(`Only objects in namespace ${namespace} are known: ${textOf(error)}`);
      await read(kind, namespace);
    }
  };
  for (const kind of kinds)
    for (const where of namespaces.length > 0 ? namespaces : [undefined]) await read(kind, where);
  return objects;
}

/** Whether the remote of an object is, or will be, in this account. */
export function isIn({ gatewayAccount }: Credentials, { metadata, spec, status }: ManagedObject): boolean {
  const account = status?.id === undefined ? (spec.accountRef?.name ?? "") : (status.account ?? "");
  if (!gatewayAccount) return account === "";
  const { namespace, name } = gatewayAccount;
  const isDefault = account === "" && name === DEFAULT_ACCOUNT && status?.id === undefined;
  return metadata.namespace === namespace && (account === name || isDefault);
}

/** The uid of the namespace kube-system. Undefined if it may not be read. */
export async function clusterIDOf(client: KubeClient): Promise<string | undefined> {
  const namespaces = { group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false };
  try {
    return (await client.get(namespaces, { name: "kube-system" })).metadata.uid;
  } catch (error) {
    if (isForbidden(error)) return undefined;
    throw error;
  }
}
