import {
  type ClusterConfig,
  type Config,
  ConfigError,
  environmentWith,
  readClusterConfig,
  readConfig,
} from "../../config.ts";
import { textOf } from "../../runtime/log.ts";
import { type ClusterFlags, type Connected, connect } from "../cluster/connect.ts";
import { painted } from "../terminal/colour.ts";
import { type Line, wrappedLines } from "../terminal/line.ts";
import { type OutputFlags, print } from "../terminal/output.ts";
import { CommandError, type Terminal } from "../terminal/terminal.ts";
import { checkDefinitions } from "./definitions.ts";
import { checkGateway } from "./gateway.ts";
import { checkInstallations } from "./installations.ts";
import { checkRights } from "./rights.ts";
import { checkSelection } from "./selection.ts";

/** Resolves with the finding, for the user. Throws an error whose message says what is wrong and what to do. */
type Check = () => Promise<string>;

/** `doctor`: checks what the operator needs, and prints a line for each. Exit code 1 when one fails. Read-only. */
export async function doctor(flags: ClusterFlags & OutputFlags, terminal: Terminal): Promise<number> {
  const env = environmentWith({ KUBECONFIG: flags.kubeconfig });
  const config = configured(env);
  await using cluster = connect({ ...readClusterConfig(env), context: flags.context });
  const found: Finding[] = [];
  for (const [name, check] of checks(config, cluster)) {
    terminal.progress?.(`Checking: ${name}`);
    const finding = await check().then(
      (message) => ({ name, ok: true, message, below: [] }),
      (error: unknown) => ({ name, ok: false, message: textOf(error), below: belowOf(error) }),
    );
    found.push(finding);
    if (flags.output === undefined) terminal.say(wrappedLines(linesOf(finding), terminal.columns));
  }
  print({ value: () => ({ checks: found.map(toJSON) }), lines: () => [] }, flags, terminal);
  return found.every(({ ok }) => ok) ? 0 : 1;
}

interface Finding {
  name: string;
  ok: boolean;
  message: string;
  /** Further lines of the message. */
  below: readonly string[];
}

const belowOf = (error: unknown): readonly string[] => (error instanceof CommandError ? error.details : []);

const linesOf = ({ name, ok, message, below }: Finding): Line[] =>
  [`${ok ? "ok    " : "failed"}  ${name}: ${message}`, ...below].map((line) => painted(line, ok ? undefined : "red"));

const toJSON = ({ name, ok, message, below }: Finding) => ({ name, ok, message: [message, ...below].join("\n") });

type Configured = { config: Config } | { error: ConfigError; cluster: ClusterConfig };

function configured(env: NodeJS.ProcessEnv): Configured {
  try {
    return { config: readConfig(env) };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { error, cluster: readClusterConfig(env) };
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
    ...("config" in given && hasLease(given.config)
      ? [["installations", () => checkInstallations(client, given.config)] as [string, Check]]
      : []),
    ...("config" in given && given.config.watchSelector.text !== "" && seesAll(given.config)
      ? [["selection", () => checkSelection(client, given.config)] as [string, Check]]
      : []),
    ...("config" in given ? [["service", () => checkGateway(given.config)] as [string, Check]] : []),
  ];
}

/** Installations find each other by their Leases. Without leader election there is no Lease. */
const hasLease = ({ podNamespace, leaderElection }: Config): boolean => leaderElection && podNamespace !== undefined;

const seesAll = (config: Config): boolean => hasLease(config) && config.watchNamespaces.length === 0;

function environment(given: Configured): string {
  if ("error" in given) throw given.error;
  const { watchNamespaces, watchSelector } = given.config;
  const where = watchNamespaces.length > 0 ? `watches ${watchNamespaces.join(", ")}` : "watches all namespaces";
  return watchSelector.text === "" ? where : `${where}, and has the objects with ${watchSelector.text}`;
}

async function apiServer(transport: Connected["transport"]): Promise<string> {
  const { status, body } = await transport.request({ method: "GET", path: "/version" });
  if (status !== 200) throw new Error(`${transport.host} answers ${status}`);
  return `${(JSON.parse(body) as { gitVersion: string }).gitVersion} at ${transport.host}`;
}
