import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, resolve } from "node:path";
import type { FileOrData, RestConfig } from "./rest-config.ts";

type Entry = Readonly<Record<string, unknown>>;

interface KubeconfigFile {
  "current-context"?: string;
  contexts?: readonly { name: string; context: Entry }[];
  clusters?: readonly { name: string; cluster: Entry }[];
  users?: readonly { name: string; user?: Entry | null }[];
}

/** Members of a user entry that are read here. One with others, such as `exec`, is left to client-node. */
const readable: ReadonlySet<string> = new Set([
  "token",
  "tokenFile",
  "username",
  "password",
  "client-certificate",
  "client-certificate-data",
  "client-key",
  "client-key-data",
]);

/** Reads one context, by default the current one. If several files have the same entry, the first one counts. */
export function readKubeconfig(files: readonly string[], context?: string): RestConfig {
  const configs = files.map((file) => ({ file, config: parse(file) }));
  const wanted = context ?? configs.find(({ config }) => config["current-context"])?.config["current-context"];
  const find = (what: "contexts" | "clusters" | "users", name: unknown): { file: string; entry: Entry } => {
    for (const { file, config } of configs) {
      const found = config[what]?.find((one) => one.name === name) as Entry | undefined;
      if (found) return { file, entry: (found[what.slice(0, -1)] ?? {}) as Entry };
    }
    if (name === undefined) throw new Error("Choose a context: the kubeconfig is empty, or has no current-context");
    throw new Error(`The kubeconfig has nothing named "${name}" among its ${what}`);
  };
  const chosen = find("contexts", wanted).entry;
  const cluster = find("clusters", chosen["cluster"]);
  const user = chosen["user"] ? find("users", chosen["user"]) : { file: "", entry: {} };
  return { ...clusterOf(cluster), ...userOf(user), namespace: text(chosen["namespace"])?.trim(), context: wanted };
}

function clusterOf({ file, entry }: { file: string; entry: Entry }) {
  const server = text(entry["server"]);
  if (!server) throw new Error("The kubeconfig names no server");
  return {
    server: server.replace(/\/$/, ""),
    proxyUrl: text(entry["proxy-url"]),
    ca: fileOrData(file, entry, "certificate-authority"),
    skipVerification: entry["insecure-skip-tls-verify"] === true,
    servername: text(entry["tls-server-name"]),
    execConfig: extensionOf(entry, "client.authentication.k8s.io/exec"),
  };
}

function extensionOf({ extensions }: Entry, name: string): unknown {
  const all = Array.isArray(extensions) ? (extensions as ({ name?: unknown; extension?: unknown } | null)[]) : [];
  return all.find((one) => one?.name === name)?.extension;
}

function userOf({ file, entry }: { file: string; entry: Entry }) {
  const tokenFile = text(entry["tokenFile"]);
  return {
    cert: fileOrData(file, entry, "client-certificate"),
    key: fileOrData(file, entry, "client-key"),
    token: text(entry["token"]),
    tokenFile: tokenFile && resolve(dirname(file), tokenFile),
    username: text(entry["username"]),
    password: text(entry["password"]),
    groups: Array.isArray(entry["as-groups"]) ? entry["as-groups"].map(String) : undefined,
    needsPlugin: Object.entries(entry).some(([name, value]) => !readable.has(name) && value !== null),
  };
}

function fileOrData(file: string, entry: Entry, name: string): FileOrData {
  const path = text(entry[name]);
  return { data: text(entry[`${name}-data`]), file: path && resolve(dirname(file), path) };
}

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

function parse(file: string): KubeconfigFile {
  const content = readFileSync(file, "utf8");
  return (fromJSON(content) ?? fromYAML(content) ?? {}) as KubeconfigFile;
}

/** The parser is loaded here: a pod has no kubeconfig, and one in JSON needs no YAML parser. */
function fromYAML(content: string): unknown {
  const yaml = createRequire(import.meta.url)("yaml") as typeof import("yaml");
  return yaml.parse(content);
}

function fromJSON(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return undefined;
  }
}
