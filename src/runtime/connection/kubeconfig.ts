import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { type Proxies, parseProxy, proxyFor } from "../../http/proxies.ts";
import type { Connection, Credentials } from "./connection.ts";
import { credentialsOf } from "./file-credentials.ts";
import { readKubeconfig } from "./kubeconfig-file.ts";
import { pluginCredentials } from "./plugin-credentials.ts";
import type { RestConfig } from "./rest-config.ts";
import { type InCluster, serviceAccount } from "./service-account.ts";

export interface KubeconfigOptions {
  /** Paths as in $KUBECONFIG. Without them, ~/.kube/config is read or, when it is absent, the pod's service account. */
  kubeconfig?: string | undefined;
  /** Used instead of the current context. */
  context?: string | undefined;
  /** Unset outside of a pod. */
  inCluster?: InCluster | undefined;
  /** Used for a kubeconfig that names no proxy. In a pod, the API server is always reached directly. */
  proxies?: Proxies | undefined;
}

/** Connects as kubectl does. When the API server refuses the credentials, all files are read again. */
export function loadConnection(options: KubeconfigOptions = {}): Connection {
  const files = filesOf(options);
  let config = restConfigOf(files, options);
  const plugin = config.needsPlugin ? pluginCredentials(files, options.context) : undefined;
  const { groups } = config;
  return {
    server: config.server,
    ...(config.namespace && { namespace: config.namespace }),
    ...(config.context && { context: config.context }),
    ...(files.length === 0 && { isPodOwn: true }),
    proxy: proxyOf(config, files.length > 0 ? options.proxies : {}),
    async credentials({ fresh }) {
      if (plugin) return impersonating(groups, await plugin({ fresh }));
      if (fresh) config = restConfigOf(files, options);
      return credentialsOf(config);
    },
  };
}

/** A proxy that the kubeconfig names is used for every host, as kubectl does. */
function proxyOf({ server, proxyUrl }: RestConfig, proxies: Proxies = {}): URL | undefined {
  if (proxyUrl === undefined) return proxyFor(proxies, new URL(server));
  const proxy = parseProxy(proxyUrl);
  // the address may hold a password
  if (!proxy) throw new Error("Correct proxy-url in the kubeconfig: it is not the address of a proxy");
  return proxy;
}

/** client-node leaves the groups out, and with them the rights that kubectl would have. */
const impersonating = (groups: readonly string[] = [], { headers, tls }: Credentials): Credentials =>
  groups.length === 0 ? { headers, tls } : { headers: { ...headers, "Impersonate-Group": [...groups] }, tls };

function filesOf({ kubeconfig }: KubeconfigOptions): string[] {
  const named = [...new Set(kubeconfig?.split(delimiter).filter(Boolean))];
  // As kubectl does: of several files some may be missing. One that is missing alone is a mistake.
  const [only] = named;
  if (only !== undefined && named.length === 1) return named;
  const existing = named.filter((file) => existsSync(file));
  if (named.length > 0 && existing.length === 0)
    throw new Error(`None of these kubeconfigs exists: ${named.join(", ")}`);
  if (existing.length > 0) return existing;
  const usual = join(homedir(), ".kube", "config");
  return existsSync(usual) ? [usual] : [];
}

function restConfigOf(files: readonly string[], { context, inCluster }: KubeconfigOptions): RestConfig {
  if (files.length > 0) return readKubeconfig(files, context);
  // Another cluster is meant than that of the pod.
  if (context !== undefined) throw new Error(`Found no kubeconfig with the context ${context}: set KUBECONFIG`);
  const config = inCluster && serviceAccount(inCluster);
  if (config) return config;
  throw new Error("Found no kubeconfig and no service account: set KUBECONFIG or run in a cluster");
}
