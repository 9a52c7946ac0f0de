import type { Dispatcher } from "undici";
import EnvHttpProxyAgent from "undici/lib/dispatcher/env-http-proxy-agent.js";

/** Connections to one service. Further calls wait for one, within their deadline. */
const CONNECTIONS = 64;

/**
 * Keep-alive connections, through the proxies of HTTP_PROXY, HTTPS_PROXY and NO_PROXY. Node itself reads further
 * certificate authorities from NODE_EXTRA_CA_CERTS when the process starts.
 */
export function newDispatcher(): Dispatcher {
  try {
    return new EnvHttpProxyAgent({ connections: CONNECTIONS, pipelining: 1, allowH2: false });
  } catch {
    // the original error quotes the address with its password
    throw new TypeError("HTTP_PROXY or HTTPS_PROXY is not the address of a proxy");
  }
}
