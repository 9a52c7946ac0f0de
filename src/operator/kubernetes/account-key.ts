import { parseBaseURL } from "../../gateway/http/base-url.ts";
import { baseURLInvalid, baseURLMissing, hostNotAllowed } from "../../objects/errors/account.ts";
import { keyMissing, secretMissing } from "../../objects/errors/spec.ts";
import type { Waiting } from "../../objects/reconcile-error.ts";
import type { SecretValue } from "../../reconcile/cluster.ts";
import type { KubeObject } from "../../runtime/object.ts";

/** The code of the error when the Secret or its entry does not exist. */
export const KEY_MISSING = "SECRET_NOT_READY";

/** What a GatewayAccount says about its API key, and where the key is sent. */
export interface AccountKeyObject extends KubeObject {
  spec: { apiKeySecretRef: { name: string; key: string }; baseURL?: string };
  status?: { baseURL?: string; [field: string]: unknown };
}

/** Which hosts a GatewayAccount may name. */
export interface AllowedHosts {
  /** The address for a GatewayAccount that names none. Its host is allowed. Undefined: it is not known here. */
  readonly baseURL: string | undefined;
  /** Further hosts, each with its port if it has one. */
  readonly allowedHosts: readonly string[];
  /**
   * Whether the operator's word counts: it writes `status.baseURL` only for an address that it allows, and nobody else may
   * write the status. True for everybody but the operator.
   */
  readonly trustsStatus?: boolean;
}

export interface AccountKey {
  readonly baseURL: string;
  readonly apiKey: string;
}

/**
 * Where the API key of a GatewayAccount is sent. Throws Blocked for a host that is not allowed, or if none is known.
 * Otherwise, anybody who may create a GatewayAccount could have any Secret of the namespace sent to any host, by the
 * operator or by a command of a person with more rights.
 */
export function allowedBaseURL({ spec, status }: AccountKeyObject, allowed: AllowedHosts): string {
  const { allowedHosts, trustsStatus = false } = allowed;
  const accepted = trustsStatus ? status?.baseURL : undefined;
  // What the operator sends to counts before the environment of a command.
  const own = accepted ?? allowed.baseURL;
  const baseURL = spec.baseURL ?? own;
  if (baseURL === undefined) throw baseURLMissing({});
  const origin = originOf(baseURL);
  const isOf = (one: string | undefined) => one !== undefined && origin === parseBaseURL(one).origin;
  if (baseURL === accepted || isOf(allowed.baseURL) || isOf(own)) return baseURL;
  const { host, protocol } = new URL(origin);
  if (allowedHosts.some((one) => URL.parse(`${protocol}//${one}`)?.host === host)) return baseURL;
  throw hostNotAllowed({ host });
}

/**
 * The one door to the API key of a GatewayAccount: nobody else reads the entry of its Secret. Whoever gets the key also
 * gets the only address to which it may be sent. `read`: a Secret; undefined when it does not exist. Throws what
 * `allowedBaseURL` throws, before it reads anything, and Waiting when there is no key.
 */
export async function readAccountKey(
  object: AccountKeyObject,
  allowed: AllowedHosts,
  read: (namespace: string, name: string) => Promise<SecretValue | undefined>,
): Promise<AccountKey> {
  const baseURL = allowedBaseURL(object, allowed);
  const { name, key } = object.spec.apiKeySecretRef;
  const secret = await read(object.metadata.namespace ?? "", name);
  const field = "spec.apiKeySecretRef";
  if (!secret) throw withoutKey(secretMissing({ name, field }));
  const apiKey = secret.data[key];
  if (!apiKey) throw withoutKey(keyMissing({ name, key, field }));
  return { baseURL, apiKey };
}

const withoutKey = (error: Waiting): Waiting => Object.assign(error, { code: KEY_MISSING });

/** The pattern in the CRD also accepts some text that is no URL, so it is parsed here. */
function originOf(baseURL: string): string {
  try {
    return parseBaseURL(baseURL).origin;
  } catch (error) {
    throw baseURLInvalid({ problem: (error as Error).message }, { cause: error });
  }
}
