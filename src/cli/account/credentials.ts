import { ListRoom } from "../../account/requests/list-room.ts";
import { type AccountConfig, readAccountConfig } from "../../config.ts";
import { parseBaseURL } from "../../gateway/http/base-url.ts";
import type { Proxies } from "../../http/proxies.ts";
import { GatewayAccount as GatewayAccountKind } from "../../kinds/gateway-account.ts";
import { hostNotAllowed } from "../../objects/errors/account.ts";
import { typeOf } from "../../objects/object.ts";
import { isReconcileError } from "../../objects/reconcile-error.ts";
import { type AccountKey, type AccountKeyObject, readAccountKey } from "../../operator/kubernetes/account-key.ts";
import { secretValueOf } from "../../operator/kubernetes/read-data.ts";
import type { KubeClient } from "../../runtime/connection/client.ts";
import { isForbidden, isKindAbsent, isNotFound } from "../../runtime/connection/errors.ts";
import { textOf } from "../../runtime/log.ts";
import type { KubeObject, ResourceType } from "../../runtime/object.ts";
import { DEFAULT_ACCOUNT } from "../../schema/contract.ts";
import { forEachConcurrently } from "../cluster/concurrently.ts";
import { type ClusterFlags, connect, isNamedCluster } from "../cluster/connect.ts";
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

export interface Credentials {
  baseURL: string;
  apiKey: () => Promise<string>;
  /** Unset: the operator's own credentials, read from this process's environment. */
  gatewayAccount: { namespace: string; name: string } | undefined;
  proxies: Proxies;
  requestsPerMinute: number;
  requestSeconds: number;
  room: ListRoom;
}

/** One command runs in a process. Whatever it reads of the account, again and again, has this room. */
const room = new ListRoom({
  way: "Give the command more memory, such as NODE_OPTIONS=--max-old-space-size=8192, or shorten large texts in the account",
});

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
  if (flags.account === undefined && isNamedByFlags(flags)) return ofEnvironment(config);
  const found = await ofCluster(flags, config);
  if (found) return found;
  if (flags.account === undefined) return ofEnvironment(config);
  throw new CommandError(`There is no GatewayAccount "${flags.account}" in this namespace: name another one`);
}

/** Undefined: the cluster has no such GatewayAccount, or it cannot be reached but the environment names an account. */
async function ofCluster(flags: AccountFlags, config: AccountConfig) {
  const { account, context, namespace } = flags;
  const isNamed = account !== undefined || isNamedCluster(flags);
  let isThere = false;
  try {
    await using cluster = connect({ ...config, context });
    const ref = { namespace: namespace ?? cluster.namespace, name: account ?? DEFAULT_ACCOUNT };
    const object = await gatewayAccountOf(cluster.client, ref);
    isThere = object !== undefined;
    return object && (await credentialsOf(object, ref, cluster.client, config));
  } catch (error) {
    // The operator uses this GatewayAccount, whether its key can be read here or not. Another account is not meant.
    if (isThere || isNamed || !config.apiKey) throw error;
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
  return { baseURL, apiKey, proxies, requestsPerMinute, requestSeconds, gatewayAccount: undefined, room };
}

/** Whether flags name the account, so that a mistake in it is one of the command line. */
export const isNamedByFlags = ({ account, baseUrl, apiKeyFile }: AccountFlags): boolean =>
  account !== undefined || baseUrl !== undefined || apiKeyFile !== undefined;

/** The credentials that lead to one account. */
export interface Sharers {
  /** `<namespace>/<name>` of GatewayAccounts, and the empty text for the operator's own credentials. */
  names: ReadonlySet<string>;
  /** Whether flags name the account. Then it is that of the operator only if nothing shows another. */
  areGiven: boolean;
}

/**
 * The credentials that lead to the same account, by address and key, as the operator decides it. A GatewayAccount whose
 * key the user may not read is left out.
 */
export async function sharersOf(
  credentials: Credentials,
  accounts: readonly KubeObject[],
  { client, flags }: { client: KubeClient; flags: AccountFlags },
): Promise<Sharers> {
  const { gatewayAccount, baseURL } = credentials;
  const config = readAccountConfig({ KUBECONFIG: flags.kubeconfig });
  const key = await credentials.apiKey();
  const isSame = (other: AccountKey) => other.apiKey === key && addressOf(other.baseURL) === addressOf(baseURL);
  const areGiven = gatewayAccount === undefined && flags.account === undefined && isNamedByFlags(flags);
  const names = new Set<string>();
  if (gatewayAccount) names.add(`${gatewayAccount.namespace}/${gatewayAccount.name}`);
  else if (!areGiven) names.add("");
  const own = config.baseURL !== undefined && (await config.apiKey?.().catch(() => undefined));
  if (own && isSame({ baseURL: config.baseURL ?? "", apiKey: own })) names.add("");
  await forEachConcurrently(accounts as AccountKeyObject[], async (object) => {
    const { namespace = "", name } = object.metadata;
    const other = await keyOf(object, client, config).catch(() => undefined);
    if (other && isSame(other)) names.add(`${namespace}/${name}`);
  });
  return { names, areGiven };
}

function addressOf(baseURL: string): string {
  const { origin, prefix } = parseBaseURL(baseURL);
  return `${origin}${prefix}`;
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
  const { proxies, requestsPerMinute, requestSeconds } = config;
  const { baseURL, apiKey } = await keyOf(object, client, config).catch((error: unknown) => {
    throw unusable(error, ref);
  });
  const limits = { requestsPerMinute, requestSeconds, room };
  return { baseURL, apiKey: async () => apiKey, proxies, gatewayAccount: ref, ...limits };
}

function keyOf(object: AccountKeyObject, client: KubeClient, config: AccountConfig): Promise<AccountKey> {
  const allowed = { baseURL: config.baseURL, allowedHosts: config.allowedHosts, trustsStatus: true };
  return readAccountKey(object, allowed, (namespace, name) => secretOf(client, namespace, name));
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
  const unknown = hostNotAllowed.valuesOf(error);
  if (unknown)
    return new CommandError(
      `Give --account ${name} and a --base-url at ${unknown.host} to have the API key sent there: ${which} names this host, and the operator has not allowed it`,
    );
  return isReconcileError(error) ? new CommandError(`${error.message} (${which})`) : error;
}

/** An error that names the missing right. */
const refused = (error: unknown, right: string): unknown =>
  isForbidden(error) ? new CommandError(`You need the right to ${right}: ${textOf(error)}`) : error;
