import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const root = join(import.meta.dirname, "../../..");

interface Block {
  heading: string;
  language: string;
  content: string;
  isUsed: boolean;
}

/** The shell of a reader who follows a page. */
export class Shell {
  readonly directory: string;
  /** What a reader puts in the place of names in a page. */
  readonly substitutions: ReadonlyMap<string, string>;
  readonly #env: Readonly<Record<string, string>>;
  readonly #running = new Set<number>();
  /** What the reader has set for the commands that follow. */
  readonly #exports: string[] = [];

  constructor(
    directory: string,
    { env, substitutions }: { env: Readonly<Record<string, string>>; substitutions: ReadonlyMap<string, string> },
  ) {
    this.directory = directory;
    this.substitutions = substitutions;
    this.#env = env;
  }

  /** Runs shell commands, and resolves with their output. With `until`, interrupts them when the output contains it. */
  async run(commands: string, until?: string): Promise<string> {
    if (/^export .+$/.test(commands)) this.#exports.push(commands);
    const script = [...this.#exports, commands].join("\n");
    const child = spawn("bash", ["-euo", "pipefail", "-c", script], {
      cwd: this.directory,
      env: this.#env,
      stdio: ["ignore", "pipe", "pipe"],
      // A process group of its own, so that the interrupt reaches all commands, like Ctrl-C.
      detached: true,
    });
    const group = child.pid as number;
    this.#running.add(group);
    let printed = "";
    let complaints = "";
    let isInterrupted = false;
    child.stderr.on("data", (chunk) => {
      complaints += chunk;
    });
    child.stdout.on("data", (chunk) => {
      printed += chunk;
      if (isInterrupted || until === undefined || !printed.includes(until)) return;
      isInterrupted = true;
      process.kill(-group, "SIGINT");
    });
    const [code] = await once(child, "close");
    this.#running.delete(group);
    if (code !== 0 && !isInterrupted) throw new Error(`${commands}\nended with ${code}:\n${printed}${complaints}`);
    return printed;
  }

  /** Ends all commands that still run. */
  leave(): void {
    for (const group of this.#running) process.kill(-group, "SIGKILL");
  }
}

/** A page of the documentation whose blocks a test runs. */
export class Page {
  readonly #blocks: readonly Block[];
  readonly #shell: Shell;

  private constructor(blocks: readonly Block[], shell: Shell) {
    this.#blocks = blocks;
    this.#shell = shell;
  }

  static async read(file: string, shell: Shell): Promise<Page> {
    return new Page(blocksOf(await readFile(join(root, file), "utf8")), shell);
  }

  /** Headings of the blocks that no test has used. */
  get unused(): string[] {
    return this.#blocks.filter(({ isUsed }) => !isUsed).map(({ heading, language }) => `${heading} (${language})`);
  }

  /** The next block of this language under a heading, with the substitutions of the reader. */
  take(heading: string, language: string): string {
    const block = this.#blocks.find((one) => one.heading === heading && one.language === language && !one.isUsed);
    if (!block) throw new Error(`No further block of ${language} under ${heading}`);
    block.isUsed = true;
    return [...this.#shell.substitutions].reduce((given, [from, to]) => given.replaceAll(from, to), block.content);
  }

  /** Runs the commands of the next block one after the other, and compares their output with the page. */
  async run(heading: string): Promise<string> {
    const printed: string[] = [];
    for (const step of stepsOf(this.take(heading, "console"))) printed.push(await this.#do(step));
    return printed.join("");
  }

  /** A command that only reads is repeated until it prints what the page shows, since a reader is slower. */
  async #do({ command, shown }: Step): Promise<string> {
    const patience = command.startsWith("kubectl get") ? 30_000 : 0;
    for (const end = Date.now() + patience; ; await sleep(500)) {
      const printed = await this.#shell.run(command);
      const lines = new Set(printed.split("\n").map(alike));
      const missing = shown.filter((line) => !lines.has(alike(line)));
      if (missing.length === 0) return printed;
      if (Date.now() > end) throw new Error(`Shown, and not printed:\n${missing.join("\n")}\nbut:\n${printed}`);
    }
  }

  /** Like `run`, but the last command runs until it has printed `said`, and is then interrupted. */
  async runUntil(heading: string, said: string): Promise<string> {
    const steps = stepsOf(this.take(heading, "console"));
    return this.#shell.run(steps.map(({ command }) => command).join("\n"), said);
  }
}

function blocksOf(page: string): Block[] {
  const parts = page.matchAll(
    /^#+ (?<heading>.+)$|^(?<indent> *)```(?<language>\w+)\n(?<content>[\s\S]*?)^\k<indent>```$/gm,
  );
  let heading = "";
  const blocks = [...parts].flatMap(({ groups = {} }) => {
    heading = groups["heading"] ?? heading;
    const { language, indent = "", content: text } = groups;
    const content = text?.replaceAll(new RegExp(`^${indent}`, "gm"), "");
    return language === undefined || content === undefined ? [] : [{ heading, language, content, isUsed: false }];
  });
  const fences = page.match(/^ *```/gm)?.length ?? 0;
  if (fences !== 2 * blocks.length) throw new Error("A block without a language");
  return blocks;
}

interface Step {
  command: string;
  /** The output that the page shows. */
  shown: string[];
}

/** Commands follow a prompt. A backslash continues them on the next line. */
function stepsOf(block: string): Step[] {
  const commands = block.split(/^\$ /m).slice(1);
  return commands.map((text) => {
    const end = text.search(/(?<!\\)\n/);
    const shown = text.slice(end).split("\n").filter(Boolean);
    return { command: text.slice(0, end), shown };
  });
}

/** Replaces ids, addresses, counts and ages, which differ between runs, as do the widths of columns. */
const alike = (line: string): string =>
  line
    .replace(/\b[a-z]+_[A-Za-z0-9]{20,}/g, "ID")
    .replace(/(\d+(?:\.\d+){3}):\d+/g, "$1")
    .replace(/https?:\/\/\S+/g, "URL")
    .replace(/\d+/g, "0")
    .replace(/\s+/g, " ")
    .trim();
