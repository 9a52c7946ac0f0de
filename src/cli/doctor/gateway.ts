import type { Config } from "../../config.ts";
import { isGatewayError, NO_API_KEY, PROXY_REFUSED } from "../../gateway/errors.ts";
import { GatewayReader } from "../../gateway/reader.ts";
import { ipPolicies } from "../../gateway/resources/index.ts";
import { OPERATOR_NAME } from "../../schema/contract.ts";

/** Sends one request to the service. It changes nothing, and every key may send it. */
export async function checkGateway({ baseURL, apiKey, proxies, requestSeconds }: Config): Promise<string> {
  const client = new GatewayReader({
    baseURL,
    apiKey,
    proxies,
    timeoutMs: requestSeconds * 1000,
    userAgent: OPERATOR_NAME,
  });
  try {
    await client.list(ipPolicies).next();
    return `${new URL(baseURL).origin} accepts the API key`;
  } catch (error) {
    throw isGatewayError(error) && !error.fault ? new Error(advice(error.status, error.code), { cause: error }) : error;
  } finally {
    await client.close();
  }
}

function advice(status: number | undefined, code: string | undefined): string {
  if (code === NO_API_KEY) return "provide an API key";
  if (code === PROXY_REFUSED) return "check the proxy to the service";
  if (status === 401 || status === 403) return "replace the API key";
  if (status === undefined) return "check gateway address, proxy and certificate authorities";
  return "the service does not answer as it should";
}
