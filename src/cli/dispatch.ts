import { parseArgs } from "node:util";
import { doctor } from "./doctor.ts";
import { type Terminal, UsageError } from "./terminal.ts";
import { uninstall } from "./uninstall.ts";
import { version } from "./version.ts";

/** Takes the arguments after the name of the command, and resolves with the exit code. */
export type Command = (args: readonly string[], terminal: Terminal) => Promise<number>;

const HELP = `Usage: tunnel-gateway-operator [command]

Commands:
  run         run the operator (default)
  uninstall   --policy retain|delete [--timeout 4m] [--deployment NAME]
              retain: take the operator's finalizer off all objects; the account keeps everything.
                      Stop the operator first, or name its Deployment in POD_NAMESPACE
              delete: delete all objects, and wait until the operator has deleted what they stand for
  doctor      check the cluster, CRDs, rights and credentials that the operator needs
  version

The environment says which cluster and account: KUBECONFIG, WATCH_NAMESPACES, POD_NAMESPACE, GATEWAY_BASE_URL and
the others of the README.`;

/**
 * Runs the command that the arguments name; without one, the operator. Resolves with the exit code, which is 2 for
 * invalid arguments.
 */
export async function dispatch(
  argv: readonly string[],
  terminal: Terminal,
  run: () => Promise<number>,
): Promise<number> {
  const commands: Readonly<Record<string, Command>> = {
    run: async (args) => {
      parseArgs({ args: [...args], options: {} });
      return run();
    },
    uninstall,
    doctor,
    version: async () => {
      terminal.say(await version());
      return 0;
    },
  };
  const [name = "run", ...args] = argv;
  if (name === "help" || [name, ...args].some((arg) => arg === "--help" || arg === "-h")) {
    terminal.say(HELP);
    return 0;
  }
  try {
    const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
    if (!command) throw new UsageError(`There is no command ${name}`);
    return await command(args, terminal);
  } catch (error) {
    if (!isUsage(error)) throw error;
    terminal.warn(`${error.message}\nTry: tunnel-gateway-operator --help`);
    return 2;
  }
}

const isUsage = (error: unknown): error is Error =>
  error instanceof UsageError ||
  (error instanceof TypeError && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS"));
