import tls from "node:tls";
import { Agent, type Dispatcher, Pool, ProxyAgent } from "undici";

/** TLS settings for a host. */
export interface TlsOptions {
  ca?: string | Buffer;
  cert?: string | Buffer;
  key?: string | Buffer;
  pfx?: string | Buffer;
  passphrase?: string;
  servername?: string;
  rejectUnauthorized?: boolean;
}

export interface DispatcherOptions {
  /** Undefined: the host is reached directly. */
  readonly proxy: URL | undefined;
  readonly tls?: TlsOptions | undefined;
  /** The most connections to a host. */
  readonly connections?: number | undefined;
  /** Milliseconds after which a connection that is not used is closed. */
  readonly keepAliveTimeout?: number | undefined;
}

/** For a connection, and for the answer of a proxy to CONNECT. */
const CONNECT_MS = 10_000;

// HTTP/1.1: a half-open HTTP/2 connection would fail all requests on it
const common = { allowH2: false, pipelining: 1 };

/** Keep-alive connections to one host. Time limits of requests are given with each request. */
export function newDispatcher(options: DispatcherOptions): Dispatcher {
  const { proxy, tls: own = {}, connections, keepAliveTimeout } = options;
  const limits = { ...common, ...(connections && { connections }), ...(keepAliveTimeout && { keepAliveTimeout }) };
  const connect = { ...own, timeout: CONNECT_MS, keepAlive: true, keepAliveInitialDelay: 30_000 };
  if (!proxy) return new Agent({ ...limits, connect });
  return new ProxyAgent({
    ...limits,
    uri: proxy.href,
    requestTls: connect,
    // undici would talk TLS to a SOCKS proxy that has TLS settings
    ...(proxy.protocol === "https:" && { proxyTls: { ...proxyTlsOf(own), timeout: CONNECT_MS, allowH2: false } }),
    clientFactory: (origin, given) => new Pool(origin, { ...given, headersTimeout: CONNECT_MS }),
    factory: (origin, given) => new Pool(origin, { ...given, ...limits }),
  });
}

/**
 * As kubectl does, TLS settings of the host also count for the way to the proxy. The certificate authorities of the system
 * count as well there: a proxy is seldom of the same authority as a cluster.
 */
function proxyTlsOf({ servername: _, ca, ...others }: TlsOptions): object {
  return ca === undefined ? others : { ...others, ca: [...tls.getCACertificates("default"), ca] };
}
