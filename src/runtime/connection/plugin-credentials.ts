import type { KubeConfig } from "@kubernetes/client-node";
import type { Connection, Credentials, TlsOptions } from "./connection.ts";

interface HttpsOptions extends TlsOptions {
  headers?: Record<string, unknown>;
}

/**
 * Credentials of a user entry that client-node has to evaluate: it runs a plug-in, asks an identity provider or
 * impersonates. The library is loaded only then, since it needs as much memory as all the rest of the operator.
 */
export function pluginCredentials(files: readonly string[], context: string | undefined): Connection["credentials"] {
  let config: Promise<KubeConfig> | undefined;
  return async ({ fresh }) => {
    // a KubeConfig caches the answer of the plug-in
    if (fresh) config = undefined;
    config ??= load(files, context);
    return credentialsOf(await config);
  };
}

async function load(files: readonly string[], context: string | undefined): Promise<KubeConfig> {
  const { KubeConfig } = await import("@kubernetes/client-node");
  const config = new KubeConfig();
  for (const [index, file] of files.entries()) {
    const one = index === 0 ? config : new KubeConfig();
    one.loadFromFile(file);
    if (one !== config) config.mergeConfig(one, true);
  }
  if (context) config.setCurrentContext(context);
  // client-node refuses plain http, which `kubectl proxy` serves, unless TLS verification is off
  config.clusters = config.clusters.map((cluster) =>
    cluster.server.startsWith("http:") ? { ...cluster, skipTLSVerify: true } : cluster,
  );
  return config;
}

async function credentialsOf(config: KubeConfig): Promise<Credentials> {
  const options: HttpsOptions = { headers: {} };
  await config.applyToHTTPSOptions(options as never);
  const { headers = {}, ca, cert, key, pfx, passphrase, servername, rejectUnauthorized } = options;
  const texts = Object.entries(headers).map(([name, value]) => [name, String(value).trim()]);
  const tls = { ca, cert, key, pfx, passphrase, servername, rejectUnauthorized };
  return {
    headers: Object.fromEntries(texts),
    tls: Object.fromEntries(Object.entries(tls).filter(([, value]) => value !== undefined)),
  };
}
