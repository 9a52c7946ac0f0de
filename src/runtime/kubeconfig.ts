import { delimiter } from "node:path";
import { KubeConfig } from "@kubernetes/client-node";
import type { Connection, Credentials, TlsOptions } from "./connection.ts";

export interface KubeconfigOptions {
  /** What $KUBECONFIG holds: one or more files. Without it: ~/.kube/config, else the pod's service account. */
  kubeconfig?: string | undefined;
  /** instead of the current context */
  context?: string | undefined;
}

/** Everything that is read from disk is read again when the API server refuses what was read before. */
export function loadConnection(options: KubeconfigOptions = {}): Connection {
  let config = load(options);
  const cluster = config.getCurrentCluster();
  if (!cluster) throw new Error("The kubeconfig names no current cluster");
  const { namespace } = config.getContextObject(config.getCurrentContext()) ?? {};
  return {
    server: cluster.server,
    ...(namespace && { namespace: namespace.trim() }),
    ...(cluster.proxyUrl && { proxyUrl: cluster.proxyUrl }),
    async credentials({ anew }) {
      if (anew) config = load(options);
      return credentialsOf(config);
    },
  };
}

function load({ kubeconfig, context }: KubeconfigOptions): KubeConfig {
  const config = new KubeConfig();
  const [first, ...others] = kubeconfig?.split(delimiter).filter(Boolean) ?? [];
  if (first) config.loadFromFile(first);
  else config.loadFromDefault();
  for (const file of others) {
    const more = new KubeConfig();
    more.loadFromFile(file);
    config.mergeConfig(more, true);
  }
  if (context) config.setCurrentContext(context);
  // what loadFromDefault makes up when it finds nothing
  if (config.getCurrentContext() === "loaded-context") {
    throw new Error("Found no kubeconfig and no service account: set KUBECONFIG or run in a cluster");
  }
  return config;
}

interface HttpsOptions extends TlsOptions {
  headers?: Record<string, unknown>;
  auth?: string;
}

async function credentialsOf(config: KubeConfig): Promise<Credentials> {
  const options: HttpsOptions = { headers: {} };
  await withoutAgent(config).applyToHTTPSOptions(options as never);
  const { headers = {}, auth, ca, cert, key, pfx, passphrase, servername, rejectUnauthorized } = options;
  const basic = auth ? { Authorization: `Basic ${Buffer.from(auth).toString("base64")}` } : {};
  const texts = Object.entries(headers).map(([name, value]) => [name, String(value).trim()]);
  const tls = { ca, cert, key, pfx, passphrase, servername, rejectUnauthorized };
  return {
    headers: { ...basic, ...Object.fromEntries(texts) },
    tls: Object.fromEntries(Object.entries(tls).filter(([, value]) => value !== undefined)),
  };
}

// client-node refuses plain http, as `kubectl proxy` serves it, unless TLS is declared unverified
function withoutAgent(config: KubeConfig): KubeConfig {
  config.clusters = config.clusters.map((cluster) =>
    cluster.server.startsWith("http:") ? { ...cluster, skipTLSVerify: true } : cluster,
  );
  return config;
}
