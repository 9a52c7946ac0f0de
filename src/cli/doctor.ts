import { type ClusterConfig, type Config, ConfigError, readClusterConfig, readConfig } from "../config.ts";
import { textOf } from "../runtime/log.ts";
import { type Connected, connect } from "./connect.ts";
import { checkDefinitions } from "./doctor/definitions.ts";
import { checkGateway } from "./doctor/gateway.ts";
import { checkRights } from "./doctor/rights.ts";
import type { Terminal } from "./terminal.ts";

/** Resolves with what was found. Throws an error that says what is wrong and what to do. */
type Check = () => Promise<string>;

/** `doctor`: checks what the operator needs, and prints a line for each. Exit code 1 when one fails. Read-only. */
export async function doctor(terminal: Terminal): Promise<number> {
  const config = configured();
  await using cluster = connect(readClusterConfig());
  let failures = 0;
  for (const [name, check] of checks(config, cluster)) {
    try {
      terminal.say(`ok      ${name}: ${await check()}`);
    } catch (error) {
      failures += 1;
      terminal.say(`failed  ${name}: ${textOf(error)}`);
    }
  }
  return failures === 0 ? 0 : 1;
}

type Configured = { config: Config } | { error: ConfigError; cluster: ClusterConfig };

function configured(): Configured {
  try {
    return { config: readConfig() };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { error, cluster: readClusterConfig() };
  }
}

function checks(given: Configured, { client, transport }: Connected): [name: string, check: Check][] {
  const scope =
    "config" in given
      ? { ...given.config }
      : { ...given.cluster, leaderElection: false, watchSecrets: false, secretWriteNamespaces: undefined };
  return [
    ["environment", async () => environment(given)],
    ["Kubernetes API", () => apiServer(transport)],
    ["definitions", () => checkDefinitions(transport)],
    ["rights", () => checkRights(client, scope)],
    ...("config" in given ? [["service", () => checkGateway(given.config)] as [string, Check]] : []),
  ];
}

function environment(given: Configured): string {
  if ("error" in given) throw given.error;
  const { watchNamespaces } = given.config;
  return watchNamespaces.length > 0 ? `watches ${watchNamespaces.join(", ")}` : "watches all namespaces";
}

async function apiServer(transport: Connected["transport"]): Promise<string> {
  const { status, body } = await transport.request({ method: "GET", path: "/version" });
  if (status !== 200) throw new Error(`${transport.host} answers ${status}`);
  return `${(JSON.parse(body) as { gitVersion: string }).gitVersion} at ${transport.host}`;
}
