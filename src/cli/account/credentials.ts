import { type AccountConfig, readAccountConfig } from "../../config.ts";
import type { Proxies } from "../../http/proxies.ts";
import { GatewayAccount as GatewayAccountKind } from "../../kinds/gateway-account.ts";
import { isReconcileError } from "../../objects/reconcile-error.ts";
import { type AccountKeyObject, HostNotAllowed, readAccountKey } from "../../operator/kubernetes/account-key.ts";
import { secretValueOf } from "../../operator/kubernetes/read-data.ts";
import type { KubeClient } from "../../runtime/connection/client.ts";
import { isForbidden, isKindAbsent, isNotFound } from "../../runtime/connection/errors.ts";
import { textOf } from "../../runtime/log.ts";
import type { ResourceType } from "../../runtime/object.ts";
import { DEFAULT_ACCOUNT } from "../../schema/contract.ts";
import { type ClusterFlags, connect } from "../cluster/connect.ts";
import { typeOf } from "../cluster/objects.ts";
import { CommandError } from "../terminal/terminal.ts";

/** Flags that choose the cluster, namespace and account. */
export interface AccountFlags extends ClusterFlags {
  namespace?: string;
  /** Use objects of all namespaces. `namespace` then only chooses the GatewayAccount. */
  allNamespaces?: boolean;
  account?: string;
  baseUrl?: string;
  apiKeyFile?: string;
}

/**
 * The namespace whose objects a command reads. Undefined: all namespaces; commands that read only one take that of the
 * context.
 */
export const namespaceOfFlags = ({ namespace, allNamespaces }: AccountFlags): string | undefined =>
  allNamespaces ? undefined : namespace;

export interface Credentials {
  baseURL: string;
  apiKey: () => Promise<string>;
  /** Unset: the operator's own credentials, read from this process's environment. */
  gatewayAccount: { namespace: string; name: string } | undefined;
  proxies: Proxies;
  requestsPerMinute: number;
  requestSeconds: number;
}

const secrets: ResourceType = { group: "", version: "v1", plural: "secrets", kind: "Secret" };

/**
 * Finds the account as the operator does: by flags; else the GatewayAccount that `--account` names, or the one called
 * `default` in the namespace; else by the environment. Throws CommandError when there is none.
 */
export async function findCredentials(flags: AccountFlags): Promise<Credentials> {
  const config = readAccountConfig({
    KUBECONFIG: flags.kubeconfig,
    GATEWAY_BASE_URL: flags.baseUrl,
    GATEWAY_API_KEY_FILE: flags.apiKeyFile,
  });
  const isGiven = flags.baseUrl !== undefined || flags.apiKeyFile !== undefined;
  if (flags.account === undefined && isGiven) return ofEnvironment(config);
  const found = await ofCluster(flags, config);
  if (found) return found;
  if (flags.account === undefined) return ofEnvironment(config);
  throw new CommandError(`There is no GatewayAccount "${flags.account}" in this namespace: name another one`);
}

/** Undefined: the cluster has no such GatewayAccount, or it cannot be reached but the environment names an account. */
async function ofCluster({ account, context, namespace }: AccountFlags, config: AccountConfig) {
  let isThere = false;
  try {
    await using cluster = connect({ ...config, context });
    const ref = { namespace: namespace ?? cluster.namespace, name: account ?? DEFAULT_ACCOUNT };
    const object = await gatewayAccountOf(cluster.client, ref);
    isThere = object !== undefined;
    return object && (await credentialsOf(object, ref, cluster.client, config));
  } catch (error) {
    // The operator uses this GatewayAccount, whether its key can be read here or not. Another account is not meant.
    if (isThere || account !== undefined || !config.apiKey) throw error;
    return undefined;
  }
}

async function ofEnvironment(config: AccountConfig): Promise<Credentials> {
  const { baseURL, apiKey, proxies, requestsPerMinute, requestSeconds } = config;
  if (baseURL === undefined || apiKey === undefined)
    throw new CommandError(
      "Say which account is meant: create a GatewayAccount, set GATEWAY_BASE_URL and GATEWAY_API_KEY, or give --base-url and --api-key-file",
    );
  await apiKey().catch((error: unknown) => {
    throw new CommandError(`Give another file with the API key: ${textOf(error)}`);
  });
  return { baseURL, apiKey, proxies, requestsPerMinute, requestSeconds, gatewayAccount: undefined };
}

type Ref = NonNullable<Credentials["gatewayAccount"]>;

/** Undefined when there is no such GatewayAccount. */
async function gatewayAccountOf(client: KubeClient, ref: Ref): Promise<AccountKeyObject | undefined> {
  return await client.get<AccountKeyObject>(typeOf(GatewayAccountKind), ref).catch((error) => {
    if (isNotFound(error) || isKindAbsent(error)) return undefined;
    throw refused(error, `get gatewayaccounts.tunnelgateway.dev in namespace ${ref.namespace}`);
  });
}

async function credentialsOf(
  object: AccountKeyObject,
  ref: Ref,
  client: KubeClient,
  config: AccountConfig,
): Promise<Credentials> {
  const { proxies, requestsPerMinute, requestSeconds, allowedHosts } = config;
  const allowed = { baseURL: config.baseURL, allowedHosts, trustsStatus: true };
  const read = (namespace: string, name: string) => secretOf(client, namespace, name);
  const { baseURL, apiKey } = await readAccountKey(object, allowed, read).catch((error: unknown) => {
    throw unusable(error, ref);
  });
  return { baseURL, apiKey: async () => apiKey, proxies, requestsPerMinute, requestSeconds, gatewayAccount: ref };
}

async function secretOf(client: KubeClient, namespace: string, name: string) {
  const secret = await client.get(secrets, { namespace, name }).catch((error) => {
    if (isNotFound(error)) return undefined;
    throw refused(error, `get the Secret "${name}" in namespace ${namespace}`);
  });
  return secret && secretValueOf(secret);
}

/** Names the GatewayAccount, and what a person can do who runs a command. */
function unusable(error: unknown, { namespace, name }: Ref): unknown {
  const which = `GatewayAccount "${name}" in namespace ${namespace}`;
  if (error instanceof HostNotAllowed)
    return new CommandError(
      `Give --account ${name} and a --base-url at ${error.host} to have the API key sent there: ${which} names this host, and the operator has not allowed it`,
    );
  return isReconcileError(error) ? new CommandError(`${error.message} (${which})`) : error;
}

/** An error that names the missing right. */
const refused = (error: unknown, right: string): unknown =>
  isForbidden(error) ? new CommandError(`You need the right to ${right}: ${textOf(error)}`) : error;
