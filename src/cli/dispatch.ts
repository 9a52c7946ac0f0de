import { CommanderError } from "commander";
import { messageForUser } from "./cluster/failure.ts";
import { programOf } from "./program.ts";
import { CommandError, type Terminal, UsageError } from "./terminal/terminal.ts";

/**
 * Runs the command that the arguments name; without one, prints the help. Resolves with the exit code, which is 2 for
 * invalid arguments. `name`: how the user calls the program, for help.
 */
export async function dispatch(
  argv: readonly string[],
  terminal: Terminal,
  run: (options: { yes?: boolean }) => Promise<number>,
  name = "tunnel-gateway-operator",
): Promise<number> {
  const { program, exitCode } = programOf({ name, terminal: { ...terminal, name }, run });
  const isCommand = (word: string): boolean => program.commands.some((command) => command.name() === word);
  try {
    await program.parseAsync(wordsOf(argv, isCommand), { from: "user" });
    return exitCode();
  } catch (error) {
    const failure = messageForUser(error);
    if (failure !== undefined) {
      terminal.warn([failure, ...detailsOf(error)]);
      return 1;
    }
    if (isHelp(error)) return 0;
    if (!isUsage(error)) throw error;
    terminal.warn([`${messageOf(error)} (${[name, ...argv].join(" ")})`, `Try: ${helpFor(name, argv, isCommand)}`]);
    // With this flag, exit code 2 means that there are differences.
    return argv.includes("--detailed-exitcode") ? 1 : 2;
  } finally {
    terminal.progress?.("");
  }
}

/** Help about a word that is no command is an error about that word. The parser has none of its own for it. */
function wordsOf(argv: readonly string[], isCommand: (word: string) => boolean): readonly string[] {
  const [first, about] = argv;
  if (first === undefined) return ["--help"];
  if (first === "--version") return ["version", ...argv.slice(1)];
  return first === "help" && about !== undefined && !isCommand(about) ? [about] : argv;
}

const helpFor = (name: string, [first = ""]: readonly string[], isCommand: (word: string) => boolean): string =>
  isCommand(first) ? `${name} ${first} --help` : `${name} --help`;

const detailsOf = (error: unknown): readonly string[] => (error instanceof CommandError ? error.details : []);

const isHelp = (error: unknown): boolean => error instanceof CommanderError && error.exitCode === 0;

const isUsage = (error: unknown): error is Error => error instanceof UsageError || error instanceof CommanderError;

function messageOf({ message }: Error): string {
  const text = message
    .replace(/^error: /, "")
    .replace(/\n/, " ")
    .replace(/^unknown command '([^']*)'/, "There is no command $1");
  return text.charAt(0).toUpperCase() + text.slice(1);
}
