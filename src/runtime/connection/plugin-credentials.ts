import { type SpawnOptions, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { KubeConfig, User } from "@kubernetes/client-node";
import type { TlsOptions } from "../../http/dispatcher.ts";
import type { Connection, Credentials } from "./connection.ts";
import { readKubeconfig } from "./kubeconfig-file.ts";
import type { RestConfig } from "./rest-config.ts";

const PLUGIN_MS = 60_000;

interface HttpsOptions extends TlsOptions {
  headers?: Record<string, unknown>;
}

/**
 * Credentials of a user entry that client-node has to evaluate: it runs a plug-in, asks an identity provider or
 * impersonates. The library is loaded only then, since it needs as much memory as all the rest of the operator.
 */
export function pluginCredentials(
  files: readonly string[],
  context: string | undefined,
  limitMs = PLUGIN_MS,
): Connection["credentials"] {
  let config: Promise<KubeConfig> | undefined;
  return async ({ fresh }) => {
    // a KubeConfig caches the answer of the plug-in
    if (fresh) config = undefined;
    config ??= load(files, context, limitMs);
    try {
      return await credentialsOf(await config);
    } catch (error) {
      // A file that is absent, or a plug-in that fails, may do so for a moment. kubectl may have renewed a token.
      config = undefined;
      throw (error as Error).message ? error : new Error("The credential plug-in failed, or gave no answer in time");
    }
  };
}

async function load(files: readonly string[], context: string | undefined, limitMs: number): Promise<KubeConfig> {
  const { KubeConfig } = await import("@kubernetes/client-node");
  const config = new KubeConfig();
  for (const file of files) {
    const one = new KubeConfig();
    one.loadFromFile(file);
    merge(config, one, file);
  }
  limitPlugins(config, limitMs);
  if (context) config.setCurrentContext(context);
  const server = readKubeconfig(files, context);
  config.users = config.users.map((user) => ({ ...user, exec: informed(user.exec, server) }));
  leaveRenewalToKubectl(config);
  // client-node refuses plain http, which `kubectl proxy` serves, unless TLS verification is off
  config.clusters = config.clusters.map((cluster) =>
    cluster.server.startsWith("http:") ? { ...cluster, skipTLSVerify: true } : cluster,
  );
  return config;
}

/** As kubectl does: of entries with the same name the first counts, and a relative command is beside its file. */
function merge(config: KubeConfig, one: KubeConfig, file: string): void {
  const isNew = <T extends { name: string }>(known: readonly T[], { name }: T) =>
    known.every((each) => each.name !== name);
  const users = one.users.filter((user) => isNew(config.users ?? [], user));
  config.clusters = [...(config.clusters ?? []), ...one.clusters.filter((each) => isNew(config.clusters ?? [], each))];
  config.contexts = [...(config.contexts ?? []), ...one.contexts.filter((each) => isNew(config.contexts ?? [], each))];
  config.users = [...(config.users ?? []), ...users.map((user) => ({ ...user, exec: beside(file, user.exec) }))];
  config.currentContext ||= one.currentContext;
}

/** A command without a slash is searched for in PATH. */
function beside(file: string, exec: { command?: string } | null | undefined): typeof exec {
  if (!exec?.command?.includes("/")) return exec;
  return { ...exec, command: resolve(dirname(file), exec.command) };
}

interface Exec {
  apiVersion?: string;
  env?: readonly { name: string; value: string }[];
  provideClusterInfo?: boolean;
}

/** A plug-in reads from this variable for which cluster it is asked, and that nobody can answer it, as with kubectl. */
function informed(exec: Exec | null | undefined, server: RestConfig): Exec | null | undefined {
  if (!exec) return exec;
  const cluster = exec.provideClusterInfo === true && { cluster: clusterFor(server) };
  const info = { kind: "ExecCredential", apiVersion: exec.apiVersion, spec: { ...cluster, interactive: false } };
  return { ...exec, env: [...(exec.env ?? []), { name: "KUBERNETES_EXEC_INFO", value: JSON.stringify(info) }] };
}

/** The `Cluster` of client.authentication.k8s.io/v1. A certificate is always given by its content. */
const clusterFor = ({ server, servername, skipVerification, ca, proxyUrl, execConfig }: RestConfig) => ({
  server,
  "tls-server-name": servername,
  "insecure-skip-tls-verify": skipVerification || undefined,
  "certificate-authority-data": ca.data ?? (ca.file && readFileSync(ca.file, "base64")),
  "proxy-url": proxyUrl,
  config: execConfig,
});

/** Ends a plug-in that runs longer than this, and gives it no input: nobody is there who could answer it. */
function limitPlugins(config: KubeConfig, limitMs: number): void {
  const { authenticators } = config as unknown as { authenticators: { execFn?: typeof spawn }[] };
  const limited = (command: string, args: string[], options: SpawnOptions) =>
    spawn(command, args ?? [], {
      ...options,
      stdio: ["ignore", "pipe", "pipe"],
      timeout: limitMs,
      killSignal: "SIGKILL",
    });
  for (const authenticator of authenticators) if (authenticator.execFn) authenticator.execFn = limited as typeof spawn;
}

/**
 * A token of an OIDC identity provider is used until it expires, and is not renewed here. Many providers accept a
 * refresh token only once, so kubectl writes the next one into the kubeconfig. client-node does not: its renewal would
 * end the session of the person whose file this is.
 */
function leaveRenewalToKubectl(config: KubeConfig): void {
  config.users = config.users.map((user) => {
    if (!isOIDC(user)) return user;
    const { "refresh-token": _, ...provider } = user.authProvider.config;
    return { ...user, authProvider: { ...user.authProvider, config: provider } };
  });
}

const isOIDC = (user: User | null): user is User => user?.authProvider?.name === "oidc";

async function credentialsOf(config: KubeConfig): Promise<Credentials> {
  const options: HttpsOptions = { headers: {} };
  await config.applyToHTTPSOptions(options as never);
  const { headers = {}, ca, cert, key, pfx, passphrase, servername, rejectUnauthorized } = options;
  const user = config.getCurrentUser();
  if (isOIDC(user) && !headers["Authorization"]) {
    const renew = "Run a kubectl command with this kubeconfig, such as kubectl auth whoami, to renew the OIDC token";
    throw new Error(`${renew} of user "${user.name}": it is missing or has expired`);
  }
  const texts = Object.entries(headers).map(([name, value]) => [name, String(value).trim()]);
  const tls = { ca, cert, key, pfx, passphrase, servername, rejectUnauthorized };
  return {
    headers: Object.fromEntries(texts),
    tls: Object.fromEntries(Object.entries(tls).filter(([, value]) => value !== undefined)),
  };
}
