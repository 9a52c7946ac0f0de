import type { Command } from "commander";
import { programOf } from "../cli/program.ts";

const PART = /(<!-- help: written by npm run generate -->\n)[\s\S]*(<!-- end of help -->)/;

const HEAD = "| Command | Does |\n|---|---|\n";

/** The page of commands, with a table of them and the help of each as the program prints it. */
export function withHelp(page: string): string {
  const terminal = { say: () => {}, warn: () => {} };
  const { program } = programOf({ name: "tunnel-gateway-operator", terminal, run: async () => 0 });
  const index = program.commands.map((command) => `| [${command.name()}](#${command.name()}) | ${command.summary()} |`);
  const sections = program.commands.map(
    (command) => `## ${command.name()}\n\n\`\`\`text\n${helpOf(command)}\n\`\`\`\n`,
  );
  if (!PART.test(page)) throw new Error("docs/commands.md has no place for the help of the commands");
  return page.replace(
    PART,
    (_, begin, end) => `${begin}\n${HEAD}${index.join("\n")}\n\n${sections.join("\n")}\n${end}`,
  );
}

function helpOf(command: Command): string {
  let help = "";
  command.configureOutput({
    writeOut: (text) => {
      help += text;
    },
  });
  command.outputHelp();
  return help.trimEnd();
}
