import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import type { Access } from "./access.ts";
import { credentialsOf } from "./access-credentials.ts";
import type { Connection } from "./connection.ts";
import { readKubeconfig } from "./kubeconfig-file.ts";
import { pluginCredentials } from "./plugin-credentials.ts";
import { type InCluster, serviceAccount } from "./service-account.ts";

export interface KubeconfigOptions {
  /** What $KUBECONFIG holds: one or more files. Without it: ~/.kube/config, else the pod's service account. */
  kubeconfig?: string | undefined;
  /** instead of the current context */
  context?: string | undefined;
  /** Unset: this is no pod. */
  inCluster?: InCluster | undefined;
}

/** Everything that is read from disk is read again when the API server refuses what was read before. */
export function loadConnection(options: KubeconfigOptions = {}): Connection {
  const files = filesOf(options);
  let access = accessOf(files, options);
  const plugin = access.needsPlugin ? pluginCredentials(files, options.context) : undefined;
  return {
    server: access.server,
    ...(access.namespace && { namespace: access.namespace }),
    ...(access.proxyUrl && { proxyUrl: access.proxyUrl }),
    async credentials({ anew }) {
      if (plugin) return plugin({ anew });
      if (anew) access = accessOf(files, options);
      return credentialsOf(access);
    },
  };
}

function filesOf({ kubeconfig }: KubeconfigOptions): string[] {
  const named = kubeconfig?.split(delimiter).filter(Boolean) ?? [];
  if (named.length > 0) return named;
  const usual = join(homedir(), ".kube", "config");
  return existsSync(usual) ? [usual] : [];
}

function accessOf(files: readonly string[], { context, inCluster }: KubeconfigOptions): Access {
  const access = files.length > 0 ? readKubeconfig(files, context) : inCluster && serviceAccount(inCluster);
  if (access) return access;
  throw new Error("Found no kubeconfig and no service account: set KUBECONFIG or run in a cluster");
}
