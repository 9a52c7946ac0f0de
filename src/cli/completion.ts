import type { Command } from "commander";
import { fishWord } from "./terminal/shell.ts";
import { UsageError } from "./terminal/terminal.ts";

export const shells = ["bash", "zsh", "fish"] as const;

/** Words that can follow the name of a command. */
interface Words {
  name: string;
  summary: string;
  flags: { flag: string; description: string }[];
}

/** Both names under which the program is installed. */
const NAMES = ["tunnel-gateway-operator", "kubectl-tunnelgateway"];

/** A script for this shell, made of the commands and flags of the program. Throws UsageError for another shell. */
export function completionOf(shell: string, program: Command): string {
  const words = program.commands.map(wordsOf);
  switch (shell) {
    case "bash":
      return bash(words);
    case "zsh":
      return `autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n${bash(words)}`;
    case "fish":
      return fish(words);
    default:
      throw new UsageError(`There is a completion for ${shells.join(", ")}, and none for ${shell}`);
  }
}

const wordsOf = (command: Command): Words => ({
  name: command.name(),
  summary: command.summary(),
  flags: command.options
    .flatMap(({ long, description, hidden }) => (long && !hidden ? [{ flag: long, description }] : []))
    .concat({ flag: "--help", description: "show the help of the command" }),
});

function bash(words: readonly Words[]): string {
  const cases = words.map(({ name, flags }) => `    ${name}) words="${flags.map(({ flag }) => flag).join(" ")}" ;;`);
  return `_tunnelgateway() {
  local words
  case "\${COMP_WORDS[1]}" in
${cases.join("\n")}
    *) words="${words.map(({ name }) => name).join(" ")}" ;;
  esac
  [[ $COMP_CWORD -eq 1 ]] && words="${words.map(({ name }) => name).join(" ")}"
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _tunnelgateway ${NAMES.join(" ")}`;
}

function fish(words: readonly Words[]): string {
  const lines = NAMES.flatMap((program) => [
    `complete -c ${program} -f`,
    ...words.map(
      ({ name, summary }) => `complete -c ${program} -n __fish_use_subcommand -a ${name} -d ${fishWord(summary)}`,
    ),
    ...words.flatMap(({ name, flags }) =>
      flags.map(
        ({ flag, description }) =>
          `complete -c ${program} -n "__fish_seen_subcommand_from ${name}" -l ${flag.slice(2)} -d ${fishWord(description)}`,
      ),
    ),
  ]);
  return lines.join("\n");
}
