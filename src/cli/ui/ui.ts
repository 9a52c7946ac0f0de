import { spawn } from "node:child_process";
import { readAccountConfig } from "../../config.ts";
import { type AccountFlags, findCredentials, isNamedByFlags } from "../account/credentials.ts";
import { connect } from "../cluster/connect.ts";
import { isNamespaceAbsent, noNamespace } from "../cluster/namespace.ts";
import { type Scope, scopeOf } from "../cluster/scope.ts";
import { type Terminal, UsageError } from "../terminal/terminal.ts";
import { Followers } from "./http/followers.ts";
import { addressOf, newToken } from "./http/guard.ts";
import { listen } from "./http/server.ts";
import { Views } from "./reading/view.ts";
import { siteOf } from "./site.ts";

interface Flags extends AccountFlags {
  port: string;
  open?: boolean;
}

const HIGHEST_PORT = 65_535;

/** `ui`: serves pages on this machine until the signal. Read-only. */
export async function ui(flags: Flags, terminal: Terminal, end = untilInterrupted()): Promise<number> {
  const port = portOf(flags.port);
  // a name that is wrong is told at once, and not on a page
  if (isNamedByFlags(flags)) await findCredentials(flags);
  await using cluster = connect({ ...readAccountConfig({ KUBECONFIG: flags.kubeconfig }), context: flags.context });
  const scope = scopeOfPages(flags, cluster.namespace);
  // whatever else the cluster answers is for the pages to tell
  if (!scope.isAll && (await isNamespaceAbsent(cluster.client, scope.namespace).catch(() => false)))
    throw noNamespace(scope.namespace);
  using followers = new Followers();
  await using views = new Views(cluster.client, flags, scope, () => followers.changed());
  const [token, oneTimeToken] = [newToken(), flags.open ? newToken() : undefined];
  await using listening = await listen(siteOf(views, followers), { port, token, oneTimeToken });
  terminal.progress?.("");
  terminal.say([addressOf({ port: listening.port, token })]);
  terminal.warn(
    "This address is for you alone: it has the token of this start. The page is read-only, and ends with Ctrl-C",
  );
  // Other people of this machine see the arguments of a program for as long as it runs.
  if (oneTimeToken !== undefined) open(addressOf({ port: listening.port, token: oneTimeToken }), terminal);
  await end;
  return 0;
}

/** An account has no namespaces, so by default its pages are of all. */
const scopeOfPages = (flags: Flags, context: string): Scope =>
  scopeOf({ ...flags, allNamespaces: flags.allNamespaces ?? flags.namespace === undefined }, context);

function portOf(given: string): number {
  const port = Number(given);
  if (!/^\d+$/.test(given) || port > HIGHEST_PORT)
    throw new UsageError(`--port must be a number up to ${HIGHEST_PORT}`);
  return port;
}

const untilInterrupted = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve());
  });

const openers: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ["open"],
  win32: ["explorer.exe"],
};

/** With the program that opens addresses on this machine. */
function open(address: string, terminal: Terminal): void {
  const [program = "", ...args] = openers[process.platform] ?? ["xdg-open"];
  const failed = () => terminal.warn("No browser could be opened: open the address yourself");
  const child = spawn(program, [...args, address], { stdio: "ignore", detached: true });
  child.once("error", failed);
  child.once("exit", (code) => code && process.platform !== "win32" && failed());
  child.unref();
}
