import type { Dispatcher } from "undici";
import Agent from "undici/lib/dispatcher/agent.js";
import ProxyAgent from "undici/lib/dispatcher/proxy-agent.js";
import Socks5ProxyAgent from "undici/lib/dispatcher/socks5-proxy-agent.js";
import type { TlsOptions } from "./connection.ts";

export interface Agents {
  api: Dispatcher;
  watch: Dispatcher;
}

// HTTP/1.1: a half-open HTTP/2 connection would fail all requests on it
const common = { allowH2: false, pipelining: 1, keepAliveTimeout: 30_000, headersTimeout: 30_000 };

/** One agent for requests and one for watches, which stay open for minutes and need any number of connections. */
export function createAgents(tls: TlsOptions, proxyUrl?: string): Agents {
  return {
    api: createAgent({ ...common, connections: 16, bodyTimeout: 30_000 }, tls, proxyUrl),
    watch: createAgent({ ...common, bodyTimeout: 0 }, tls, proxyUrl),
  };
}

function createAgent(options: Agent.Options, tls: TlsOptions, proxyUrl?: string): Dispatcher {
  const connect = { ...tls, timeout: 10_000, keepAlive: true, keepAliveInitialDelay: 30_000 };
  if (!proxyUrl) return new Agent({ ...options, connect });
  if (proxyUrl.startsWith("socks")) return new Socks5ProxyAgent(proxyUrl, { ...options, requestTls: connect } as never);
  return new ProxyAgent({ ...options, uri: proxyUrl, requestTls: connect });
}
