import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import * as z from "zod";
import { type Proxies, parseProxy, proxyFor } from "./http/proxies.ts";
import { CLUSTER_ID, DEFAULT_INSTALLATION } from "./schema/contract.ts";
import { type LabelSelector, LabelSelectorError, parseLabelSelector } from "./schema/label-selector.ts";

/** The seconds of a duration such as `90s`, `5m` or `1h30m`. */
function seconds(text: string): number {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(h|ms|m|s)/g)];
  const unit: Record<string, number> = { h: 3600, m: 60, s: 1, ms: 0.001 };
  if (parts.length === 0 || parts.map(([part]) => part).join("") !== text) return Number.NaN;
  return parts.reduce((sum, [, count, name]) => sum + Number(count) * (unit[name as string] ?? 0), 0);
}

const duration = z
  .string()
  .transform(seconds)
  .refine((value) => value >= 1, "must be a duration of at least one second, such as 30s, 5m or 1h30m");

/** Names separated by commas. Each counts once. */
const names = z
  .string()
  .default("")
  .transform((text) => [...new Set(text.split(",").map((name) => name.trim()))].filter(Boolean));

const labelSelector = z
  .string()
  .default("")
  .transform((text, context) => {
    try {
      return parseLabelSelector(text);
    } catch (error) {
      if (!(error instanceof LabelSelectorError)) throw error;
      context.addIssue({ code: "custom", message: error.message });
      return z.NEVER;
    }
  });

/** Hosts separated by commas, each with its port if it has one. */
const hosts = names.refine(
  (all) => all.every(isHost),
  "each must be a host such as api.example.com or api.example.com:8443",
);

const isHost = (text: string): boolean => {
  const url = URL.parse(`https://${text}`);
  return url !== null && url.pathname === "/" && !/[\s@/?#\\]/.test(text);
};

const interval = z
  .string()
  .transform((text) => (text === "0" ? 0 : seconds(text)))
  .refine((value) => value === 0 || value >= 1, "must be 0, or a duration of at least one second, such as 30s or 5m");

const flag = z.enum(["true", "false"], { error: "must be true or false" }).transform((value) => value === "true");

/** An address as `Resolver.setServers` of Node takes it. */
function isServer(text: string): boolean {
  const [, bracketed, port] = /^\[(.+)\](?::(\d{1,5}))?$/.exec(text) ?? /^([^:]+)(?::(\d{1,5}))?$/.exec(text) ?? [];
  return isIP(text) !== 0 || (isIP(bracketed ?? "") !== 0 && Number(port ?? 53) > 0 && Number(port ?? 53) < 65_536);
}

const servers = names.refine(
  (list) => list.every(isServer),
  "must be IP addresses separated by commas, each with a port if it is not 53, such as 10.0.0.10 or 10.0.0.10:5353",
);

const count = z
  .string()
  .regex(/^\d{1,9}$/, "must be a whole number")
  .transform(Number);

const url = z
  .url({ protocol: /^https?$/, error: "must be a URL that begins with https:// or http://" })
  .refine((value) => !holdsCredentials(value), "must not hold credentials");

/** Over plain HTTP, anybody on the network path could read the API key. */
const plaintext = flag.default(false);

const isPlaintext = (baseURL: string | undefined): boolean => {
  const { protocol, hostname = "" } = URL.parse(baseURL ?? "") ?? {};
  return protocol === "http:" && !/^(localhost|.*\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
};

const mayBePlaintext = (given: { GATEWAY_BASE_URL?: string | undefined; GATEWAY_ALLOW_PLAINTEXT: boolean }): boolean =>
  given.GATEWAY_ALLOW_PLAINTEXT || !isPlaintext(given.GATEWAY_BASE_URL);

const plaintextProblem = {
  path: ["GATEWAY_BASE_URL"],
  error:
    "must begin with https://, or anybody on the way can read the API key; GATEWAY_ALLOW_PLAINTEXT=true allows http://",
};

function holdsCredentials(url: string): boolean {
  const { username = "", password = "" } = URL.parse(url) ?? {};
  return username !== "" || password !== "";
}

const clusterID = new RegExp(`^${CLUSTER_ID}$`);
const clusterIDWords = "must be at most 128 letters, digits, dashes, dots and underscores";
const clusterIDs = names.refine((ids) => ids.every((id) => clusterID.test(id)), `each ${clusterIDWords}`);

/** The message must not quote the address, which may hold a password. */
const proxy = z
  .string()
  .transform((text, context) => {
    const parsed = parseProxy(text);
    if (parsed) return parsed;
    context.addIssue({
      code: "custom",
      message: "must be the address of a proxy, such as http://proxy.example:3128, with %25 for a % in a password",
    });
    return z.NEVER;
  })
  .optional();

/** The variables of all commands. The others are for the operator only. */
const cluster = {
  WATCH_NAMESPACES: names,
  WATCH_SELECTOR: labelSelector,
  RIGHTS_BINDING: z.string().optional(),
  INSTALLATION: z
    .string()
    .regex(/^[a-z0-9]([-a-z0-9]{0,28}[a-z0-9])?$/, "must be at most 30 lower-case letters, digits and dashes")
    .default(DEFAULT_INSTALLATION),
  LOG_LEVEL: z
    .enum(["debug", "info", "warn", "error"], { error: "must be debug, info, warn or error" })
    .default("info"),
  POD_NAMESPACE: z.string().optional(),
  KUBECONFIG: z.string().optional(),
  // Kubernetes sets these two in every pod
  KUBERNETES_SERVICE_HOST: z.string().optional(),
  KUBERNETES_SERVICE_PORT: z.string().default("443"),
  HTTP_PROXY: proxy,
  HTTPS_PROXY: proxy,
  NO_PROXY: z.string().optional(),
  // of both spellings, this one comes first, as in Go programs
  http_proxy: proxy,
  https_proxy: proxy,
  no_proxy: z.string().optional(),
};

const environment = z
  .object({
    ...cluster,
    GATEWAY_BASE_URL: url,
    GATEWAY_API_KEY: z.string().min(1, "must not be empty").optional(),
    GATEWAY_API_KEY_FILE: z.string().min(1, "must not be empty").optional(),
    GATEWAY_UNDOCUMENTED_OPERATIONS: flag.default(true),
    GATEWAY_ACCOUNT_CONFIRMED: flag.default(false),
    GATEWAY_ALLOW_PLAINTEXT: plaintext,
    ALLOWED_GATEWAY_HOSTS: hosts,
    ADOPTION_NAMESPACES: names,
    CLUSTER_ID: z.string().regex(clusterID, clusterIDWords).optional(),
    FORMER_CLUSTER_IDS: clusterIDs,
    RESYNC_INTERVAL: duration.prefault("5m"),
    SESSION_SYNC_INTERVAL: interval.prefault("30s"),
    REQUESTS_PER_MINUTE: count.prefault("100"),
    MAX_DELETES_PER_MINUTE: count.prefault("60"),
    REQUEST_TIMEOUT: duration.prefault("30s"),
    METRICS_ADDRESS: z
      .string()
      .regex(/^[^\s]*:\d{1,5}$/, "must be host:port or :port")
      .default(":8080"),
    LEADER_ELECTION: flag.default(false),
    WATCH_SECRETS: flag.default(false),
    EXTERNAL_DNS: flag.default(false),
    EXTERNAL_DNS_NAMESPACES: names,
    DNS_RESOLVERS: servers,
    OTEL_EXPORTER_OTLP_ENDPOINT: url.optional(),
    KEEP_RIGHTS_BINDING: flag.default(true),
    SECRET_WRITE_NAMESPACES: z.union([z.enum(["*", "-"]), names]).default("*"),
  })
  .refine(({ GATEWAY_API_KEY, GATEWAY_API_KEY_FILE }) => !(GATEWAY_API_KEY && GATEWAY_API_KEY_FILE), {
    path: ["GATEWAY_API_KEY_FILE"],
    error: "must not be set beside GATEWAY_API_KEY: choose one",
  })
  .refine(mayBePlaintext, plaintextProblem);

/** The variables of the environment that the operator and its commands read. */
export const variables: readonly string[] = Object.keys(environment.shape);

/** Which cluster is used, and which objects of it. */
export interface ClusterConfig {
  /** Empty: all namespaces. */
  watchNamespaces: readonly string[];
  /** Objects with other labels belong to another installation. */
  watchSelector: LabelSelector;
  /** The RoleBinding in each of these namespaces by which the operator ends their objects. Undefined: there is none. */
  rightsBinding: string | undefined;
  /** Tells installations of one cluster apart. */
  installation: string;
  logLevel: "debug" | "info" | "warn" | "error";
  podNamespace: string | undefined;
  kubeconfig: string | undefined;
  /** The address of the API server inside a pod; unset outside of one. */
  inCluster: { host: string; port: string } | undefined;
  /** The proxies to the service, and to an API server outside of a pod. */
  proxies: Proxies;
}

/** The way to a collector. The packages for traces read where it is themselves, and know no proxies. */
export interface TracesConfig {
  readonly proxy: URL | undefined;
  /** Files with PEM, for a collector with https. */
  readonly files: { readonly [part in "ca" | "cert" | "key"]: string | undefined };
}

/** Which account is used, and how. A command takes what the environment lacks from the cluster. */
export interface AccountConfig extends ClusterConfig {
  baseURL: string | undefined;
  /** Reads the key again for each request, so that a new one is used without a restart. */
  apiKey: (() => Promise<string>) | undefined;
  /** Hosts that GatewayAccounts may name besides the operator's own, each with its port if it has one. */
  allowedHosts: readonly string[];
  /** The id of the cluster in owner marks. Default: see ClusterIdentity. */
  clusterID: string | undefined;
  /** Names that the cluster had in owner marks before, or those of clusters that it continues. */
  formerClusterIDs: readonly string[];
  /** Whether operations that the API page does not show are tried. */
  undocumentedOperations: boolean;
  /** 0: no limit. */
  requestsPerMinute: number;
  /** The most remotes of one account that are deleted in a minute; 0: no limit. */
  deletesPerMinute: number;
  /**
   * The time limit of one request to the service. It also decides how long an interrupted create may still take effect:
   * do not start a process with a shorter one than the process before.
   */
  requestSeconds: number;
  /** DNS servers for queries, each as `address` or `address:port`. Empty: the resolvers of the system. */
  dnsResolvers: readonly string[];
}

export interface Config extends AccountConfig {
  baseURL: string;
  apiKey: () => Promise<string>;
  /** The administrator says that the account is the right one, even if it has nothing of what objects stand for. */
  accountConfirmed: boolean;
  /**
   * Namespaces whose objects may take over remotes that somebody else has made, in the account of the operator's own
   * credentials. `*`: all.
   */
  adoptionNamespaces: readonly string[];
  resyncSeconds: number;
  /** Time between two lists of tunnel sessions, which are mirrored as objects; 0: off. */
  sessionSyncSeconds: number;
  metricsAddress: string;
  leaderElection: boolean;
  /** Watches the metadata of Secrets, so that a change has its effect at once. Needs the right to list and watch. */
  watchSecrets: boolean;
  /** A domain that does not say otherwise has a DNSEndpoint, from which external-dns makes its records. */
  externalDNS: boolean;
  /** Namespaces whose objects may have DNS records written. `*`: all. */
  externalDNSNamespaces: readonly string[];
  /** Sends traces to a collector. Undefined: no traces. */
  traces: TracesConfig | undefined;
  /** Keeps `rightsBinding` from being deleted before the last object of its namespace. */
  keepRightsBinding: boolean;
  /** Where the operator has the right to write Secrets. Undefined: in all namespaces that it watches. */
  secretWriteNamespaces: readonly string[] | undefined;
}

/** Wrong environment variables. The message names each one and says what it must be. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** Reads the environment, in which empty variables count as unset. Throws ConfigError. */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const values = parse(environment, env);
  return {
    ...accountOf(values),
    baseURL: values.GATEWAY_BASE_URL,
    apiKey: keySource(values.GATEWAY_API_KEY, values.GATEWAY_API_KEY_FILE),
    accountConfirmed: values.GATEWAY_ACCOUNT_CONFIRMED,
    adoptionNamespaces: values.ADOPTION_NAMESPACES,
    resyncSeconds: values.RESYNC_INTERVAL,
    sessionSyncSeconds: values.SESSION_SYNC_INTERVAL,
    metricsAddress: values.METRICS_ADDRESS,
    leaderElection: values.LEADER_ELECTION,
    watchSecrets: values.WATCH_SECRETS,
    externalDNS: values.EXTERNAL_DNS,
    externalDNSNamespaces: values.EXTERNAL_DNS_NAMESPACES,
    traces: tracesOf(values, env),
    keepRightsBinding: values.KEEP_RIGHTS_BINDING,
    secretWriteNamespaces: written(values.SECRET_WRITE_NAMESPACES),
  };
}

function tracesOf(values: z.output<typeof environment>, env: NodeJS.ProcessEnv): Config["traces"] {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: collector } = values;
  if (collector === undefined) return undefined;
  // as the packages choose
  const of = (name: string) => env[`OTEL_EXPORTER_OTLP_TRACES_${name}`] || env[`OTEL_EXPORTER_OTLP_${name}`];
  const proxy = proxyFor(clusterOf(values).proxies, URL.parse(of("ENDPOINT") ?? "") ?? new URL(collector));
  const files = { ca: of("CERTIFICATE"), cert: of("CLIENT_CERTIFICATE"), key: of("CLIENT_KEY") };
  if (proxy?.protocol !== "socks5:") return { proxy, files };
  throw new ConfigError("Add the host of the collector to NO_PROXY: traces cannot pass a SOCKS proxy");
}

/** Reads the variables of commands that do not use the service. Throws ConfigError. */
export const readClusterConfig = (env: NodeJS.ProcessEnv = process.env): ClusterConfig =>
  clusterOf(parse(z.object(cluster), env));

/** The environment, with what flags give in place of its variables. */
export const environmentWith = (flags: NodeJS.ProcessEnv, env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv => ({
  ...env,
  ...Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined)),
});

const account = z
  .object({
    ...cluster,
    GATEWAY_ALLOW_PLAINTEXT: plaintext,
    GATEWAY_BASE_URL: url.optional(),
    GATEWAY_API_KEY: z.string().optional(),
    GATEWAY_API_KEY_FILE: z.string().optional(),
    ALLOWED_GATEWAY_HOSTS: hosts,
    CLUSTER_ID: z.string().optional(),
    FORMER_CLUSTER_IDS: clusterIDs,
    GATEWAY_UNDOCUMENTED_OPERATIONS: flag.default(true),
    REQUESTS_PER_MINUTE: count.prefault("100"),
    MAX_DELETES_PER_MINUTE: count.prefault("60"),
    REQUEST_TIMEOUT: duration.prefault("30s"),
    DNS_RESOLVERS: servers,
  })
  .refine(mayBePlaintext, plaintextProblem);

/** Reads the variables of commands that use the account. `flags` come before the environment. */
export function readAccountConfig(flags: NodeJS.ProcessEnv = {}, env: NodeJS.ProcessEnv = process.env): AccountConfig {
  // a file that a flag names comes before a key of the environment
  const { GATEWAY_API_KEY: key, ...others } = env;
  const given = flags["GATEWAY_API_KEY_FILE"] ? others : { ...others, GATEWAY_API_KEY: key };
  const values = parse(account, environmentWith(flags, given));
  const { GATEWAY_API_KEY, GATEWAY_API_KEY_FILE } = values;
  return {
    ...accountOf(values),
    baseURL: values.GATEWAY_BASE_URL,
    apiKey: GATEWAY_API_KEY || GATEWAY_API_KEY_FILE ? keySource(GATEWAY_API_KEY, GATEWAY_API_KEY_FILE) : undefined,
  };
}

/** The settings of the user's terminal. */
export const readTerminalConfig = (env: NodeJS.ProcessEnv = process.env): { noColour: boolean } => ({
  noColour: Boolean(env["NO_COLOR"]),
});

function parse<S extends z.ZodType>(schema: S, env: NodeJS.ProcessEnv): z.output<S> {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ""));
  const result = schema.safeParse(given);
  if (!result.success) throw new ConfigError(explain(result.error));
  return result.data;
}

function written(namespaces: "*" | "-" | string[]): string[] | undefined {
  if (namespaces === "*") return undefined;
  return namespaces === "-" ? [] : namespaces;
}

const accountOf = (values: z.output<typeof account>): Omit<AccountConfig, "baseURL" | "apiKey"> => ({
  ...clusterOf(values),
  allowedHosts: values.ALLOWED_GATEWAY_HOSTS,
  clusterID: values.CLUSTER_ID,
  formerClusterIDs: values.FORMER_CLUSTER_IDS,
  undocumentedOperations: values.GATEWAY_UNDOCUMENTED_OPERATIONS,
  requestsPerMinute: values.REQUESTS_PER_MINUTE,
  deletesPerMinute: values.MAX_DELETES_PER_MINUTE,
  requestSeconds: values.REQUEST_TIMEOUT,
  dnsResolvers: values.DNS_RESOLVERS,
});

const clusterOf = (values: z.output<z.ZodObject<typeof cluster>>): ClusterConfig => ({
  watchNamespaces: values.WATCH_NAMESPACES,
  watchSelector: values.WATCH_SELECTOR,
  rightsBinding: values.RIGHTS_BINDING,
  installation: values.INSTALLATION,
  logLevel: values.LOG_LEVEL,
  podNamespace: values.POD_NAMESPACE,
  kubeconfig: values.KUBECONFIG,
  inCluster: values.KUBERNETES_SERVICE_HOST
    ? { host: values.KUBERNETES_SERVICE_HOST, port: values.KUBERNETES_SERVICE_PORT }
    : undefined,
  proxies: {
    http: values.http_proxy ?? values.HTTP_PROXY,
    https: values.https_proxy ?? values.HTTPS_PROXY,
    noProxy: values.no_proxy ?? values.NO_PROXY,
  },
});

function explain(error: z.ZodError): string {
  const lines = error.issues.map(({ path, message, code, input }) => {
    const missing = code === "invalid_type" && input === undefined;
    return `  ${path.join(".")} ${missing || message.startsWith("Invalid input") ? "must be set" : message}`;
  });
  return `The environment needs correction:\n${lines.join("\n")}`;
}

/** Throws when no key is configured. When a file cannot be read later, the status of every object says so. */
function keySource(key: string | undefined, file: string | undefined): () => Promise<string> {
  if (key !== undefined) return async () => key.trim();
  if (file === undefined)
    throw new ConfigError("The environment needs correction:\n  GATEWAY_API_KEY or GATEWAY_API_KEY_FILE must be set");
  return async () => {
    const text = (await readFile(file, "utf8")).trim();
    if (!text) throw new Error("the file named by GATEWAY_API_KEY_FILE is empty");
    return text;
  };
}
