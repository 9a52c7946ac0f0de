import { type Dispatcher, EnvHttpProxyAgent } from "undici";

/** At once, to one service; further calls wait, within their deadline. */
const CONNECTIONS = 64;

/**
 * Connections that are kept alive, through the proxies that HTTP_PROXY, HTTPS_PROXY and NO_PROXY name. Further
 * certificate authorities are Node's own business: it reads NODE_EXTRA_CA_CERTS when the process starts.
 */
export function newDispatcher(): Dispatcher {
  try {
    return new EnvHttpProxyAgent({ connections: CONNECTIONS, pipelining: 1, allowH2: false });
  } catch {
    // the error of a bad address quotes it, with its password
    throw new TypeError("HTTP_PROXY or HTTPS_PROXY is not the address of a proxy");
  }
}
