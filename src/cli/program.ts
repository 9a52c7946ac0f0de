import { Command } from "commander";
import { completionOf, shells } from "./completion.ts";
import { doctor } from "./doctor.ts";
import type { Terminal } from "./terminal.ts";
import { uninstall } from "./uninstall.ts";
import { version } from "./version.ts";

export interface ProgramParts {
  /** How the user calls the program. */
  name: string;
  terminal: Terminal;
  /** Runs the operator, and resolves with its exit code. */
  run: () => Promise<number>;
}

export interface Program {
  program: Command;
  /** The exit code of the command that ran last. */
  exitCode: () => number;
}

const ENVIRONMENT = `
The environment says which cluster and account: KUBECONFIG, WATCH_NAMESPACES, POD_NAMESPACE, GATEWAY_BASE_URL and
the others of the README.

Exit codes: 0 done, 1 failed or only done in part, 2 invalid arguments.`;

/** All commands, with their arguments and help. Only `parse` of the result does anything. */
export function programOf({ name, terminal, run }: ProgramParts): Program {
  let code = 0;
  const program = withoutExit(new Command(name), terminal)
    .description("Manages a tunnel gateway account through objects in Kubernetes.")
    .addHelpText("after", ENVIRONMENT)
    .showSuggestionAfterError();
  const add = (usage: string, summary: string): Command =>
    withoutExit(program.command(usage), terminal).description(summary).summary(summary).allowExcessArguments(false);
  const ending =
    <A extends unknown[]>(action: (...args: A) => Promise<number>) =>
    async (...args: A): Promise<void> => {
      code = await action(...args);
    };

  add("run", "run the operator; without a command, this is what happens").action(ending(run));
  add("uninstall", "leave no object with a finalizer that only an operator would remove")
    .option("--policy <retain|delete>", "what happens to what the objects stand for in the account")
    .option("--timeout <duration>", "how long to wait, such as 90s, 4m or 1h", "4m")
    .option("--deployment <name>", "Deployment in POD_NAMESPACE that runs the operator, to be stopped first")
    .addHelpText("after", UNINSTALL)
    .action(ending((options) => uninstall(options, terminal)));
  add("doctor", "check the cluster, CRDs, rights and credentials that the operator needs").action(
    ending(() => doctor(terminal)),
  );
  add("version", "print the version").action(
    ending(async () => {
      terminal.say(await version());
      return 0;
    }),
  );
  add(`completion <${shells.join("|")}>`, "print a script that completes commands and flags in a shell")
    .addHelpText("after", COMPLETION)
    .action(
      ending(async (shell: string) => {
        terminal.say(completionOf(shell, program));
        return 0;
      }),
    );
  return { program, exitCode: () => code };
}

const UNINSTALL = `
  retain: take the operator's finalizer off all objects; the account keeps everything.
          Stop the operator first, or name its Deployment in POD_NAMESPACE.
  delete: delete all objects, and wait until the operator has deleted what they stand for.`;

const COMPLETION = `
  bash:  source <(tunnel-gateway-operator completion bash)
  zsh:   source <(tunnel-gateway-operator completion zsh)
  fish:  tunnel-gateway-operator completion fish | source`;

/** Throws CommanderError where commander would end the process, and prints nothing but help. */
const withoutExit = (command: Command, terminal: Terminal): Command =>
  command.exitOverride().configureOutput({
    writeOut: (text) => terminal.say(text.trimEnd()),
    writeErr: () => {},
    getOutHelpWidth: () => terminal.columns ?? 100,
    getOutHasColors: () => false,
  });
