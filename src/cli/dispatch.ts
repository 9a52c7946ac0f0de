import { CommanderError } from "commander";
import { programOf } from "./program.ts";
import { CommandError, type Terminal, UsageError } from "./terminal.ts";

/**
 * Runs the command that the arguments name; without one, the operator. Resolves with the exit code, which is 2 for
 * invalid arguments. `name`: how the user calls the program, for help.
 */
export async function dispatch(
  argv: readonly string[],
  terminal: Terminal,
  run: () => Promise<number>,
  name = "tunnel-gateway-operator",
): Promise<number> {
  const { program, exitCode } = programOf({ name, terminal, run });
  try {
    await program.parseAsync(argv.length > 0 ? argv : ["run"], { from: "user" });
    return exitCode();
  } catch (error) {
    if (error instanceof CommandError) {
      terminal.warn(error.message);
      return 1;
    }
    if (isHelp(error)) return 0;
    if (!isUsage(error)) throw error;
    terminal.warn(`${messageOf(error)} (${[name, ...argv].join(" ")})\nTry: ${name} --help`);
    // With this flag 2 has another meaning.
    return argv.includes("--detailed-exitcode") ? 1 : 2;
  }
}

const isHelp = (error: unknown): boolean => error instanceof CommanderError && error.exitCode === 0;

const isUsage = (error: unknown): error is Error => error instanceof UsageError || error instanceof CommanderError;

function messageOf({ message }: Error): string {
  const text = message.replace(/^error: /, "").replace(/^unknown command '([^']*)'/, "There is no command $1");
  return text.charAt(0).toUpperCase() + text.slice(1);
}
