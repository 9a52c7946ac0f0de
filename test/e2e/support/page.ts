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

/** Where somebody works who does what a page says. */
export class Shell {
  readonly directory: string;
  /** What a reader puts in the place of the names that a page makes up. */
  readonly substitutions: ReadonlyMap<string, string>;
  readonly #env: Readonly<Record<string, string>>;
  readonly #running = new Set<number>();

  constructor(
    directory: string,
    { env, substitutions }: { env: Readonly<Record<string, string>>; substitutions: ReadonlyMap<string, string> },
  ) {
    this.directory = directory;
    this.substitutions = substitutions;
    this.#env = env;
  }

  /** Runs commands of a shell, and resolves with what they print. With `until`, interrupts them when they say that. */
  async run(commands: string, until?: string): Promise<string> {
    const child = spawn("bash", ["-euo", "pipefail", "-c", commands], {
      cwd: this.directory,
      env: this.#env,
      stdio: ["ignore", "pipe", "pipe"],
      // a group of its own, as a shell makes it for what Ctrl-C ends
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

  /** Ends what still runs. */
  leave(): void {
    for (const group of this.#running) process.kill(-group, "SIGKILL");
  }
}

/** A page of the documentation, for a test that does what it says. */
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

  /** The next block of this language under a heading, with what a reader puts in. */
  take(heading: string, language: string): string {
    const block = this.#blocks.find((one) => one.heading === heading && one.language === language && !one.isUsed);
    if (!block) throw new Error(`No further block of ${language} under ${heading}`);
    block.isUsed = true;
    return [...this.#shell.substitutions].reduce((given, [from, to]) => given.replaceAll(from, to), block.content);
  }

  /** Runs the commands of the next block, one after the other, and holds what they print to what the page shows. */
  async run(heading: string): Promise<string> {
    const printed: string[] = [];
    for (const step of stepsOf(this.take(heading, "console"))) printed.push(await this.#do(step));
    return printed.join("");
  }

  /** What only looks is repeated until it shows what the page shows: a reader is not as fast. */
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

  /** The same where the last command goes on until it is interrupted, which happens once it has said so. */
  async runUntil(heading: string, said: string): Promise<string> {
    const steps = stepsOf(this.take(heading, "console"));
    return this.#shell.run(steps.map(({ command }) => command).join("\n"), said);
  }
}

function blocksOf(page: string): Block[] {
  const parts = page.matchAll(/^#+ (?<heading>.+)$|^```(?<language>\w+)\n(?<content>[\s\S]*?)^```$/gm);
  let heading = "";
  const blocks = [...parts].flatMap(({ groups = {} }) => {
    heading = groups["heading"] ?? heading;
    const { language, content } = groups;
    return language === undefined || content === undefined ? [] : [{ heading, language, content, isUsed: false }];
  });
  const fences = page.match(/^ *```/gm)?.length ?? 0;
  if (fences !== 2 * blocks.length) throw new Error("A block without a language, or one that is indented");
  return blocks;
}

interface Step {
  command: string;
  /** What the page says that it prints. */
  shown: string[];
}

/** Commands stand behind a prompt, and go on behind a backslash. */
function stepsOf(block: string): Step[] {
  const commands = block.split(/^\$ /m).slice(1);
  return commands.map((text) => {
    const end = text.search(/(?<!\\)\n/);
    const shown = text.slice(end).split("\n").filter(Boolean);
    return { command: text.slice(0, end), shown };
  });
}

/** Ids, addresses, counts and ages differ from run to run, and so do the widths of columns. */
const alike = (line: string): string =>
  line
    .replace(/\b[a-z]+_[A-Za-z0-9]{20,}/g, "ID")
    .replace(/(\d+(?:\.\d+){3}):\d+/g, "$1")
    .replace(/https?:\/\/\S+/g, "URL")
    .replace(/\d+/g, "0")
    .replace(/\s+/g, " ")
    .trim();
