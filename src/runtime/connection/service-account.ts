import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { RestConfig } from "./rest-config.ts";

/** Where a pod finds the API server. */
export interface InCluster {
  host: string;
  port: string;
}

export const SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Reads the service account that is mounted into a pod; undefined outside of one. */
export function serviceAccount({ host, port }: InCluster, directory = SERVICE_ACCOUNT): RestConfig | undefined {
  const [tokenFile, namespace] = [join(directory, "token"), join(directory, "namespace")];
  if (!existsSync(tokenFile)) return undefined;
  return {
    server: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
    namespace: existsSync(namespace) ? readFileSync(namespace, "utf8").trim() : undefined,
    ca: { file: join(directory, "ca.crt") },
    cert: {},
    key: {},
    tokenFile,
  };
}
