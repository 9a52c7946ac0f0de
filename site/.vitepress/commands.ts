import type { MarkdownOptions } from "vitepress";

type Transformer = NonNullable<MarkdownOptions["codeTransformers"]>[number];

/** Marks the lines of commands, which are broken where they do not fit. What a command prints is not, to keep its columns. */
export function markCommands(): Transformer {
  let goesOn = false;
  return {
    name: "mark-commands",
    line(node, number) {
      if (this.options.lang !== "console") return;
      const text = this.source.split("\n")[number - 1] ?? "";
      if (goesOn || text.startsWith("$ ")) this.addClassToHast(node, "command");
      goesOn = (goesOn || text.startsWith("$ ")) && text.endsWith("\\");
    },
  };
}
