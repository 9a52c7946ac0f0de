import { describe, expect, it } from "vitest";
import { line } from "./line.ts";
import { Screen } from "./screen.ts";

/** A terminal that understands only what Screen writes. */
class Terminal {
  readonly isTTY = true;
  readonly columns = 20;
  readonly rows = 5;
  #lines: string[] = [""];
  #row = 0;
  cursorVisible = true;

  write(text: string): void {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the test is about escape sequences
    for (const [token] of text.matchAll(/\x1b\[\??\d*[A-Za-z]|\n|\r|[^\x1b\n\r]+/g)) this.#take(token);
  }

  #take(token: string): void {
    if (token === "\n") {
      this.#row++;
      this.#lines[this.#row] ??= "";
      return;
    }
    if (token === "\x1b[?25l") this.cursorVisible = false;
    if (token === "\x1b[?25h") this.cursorVisible = true;
    if (token === "\x1b[2K") this.#lines[this.#row] = "";
    if (token.endsWith("A")) this.#row -= Number(token.slice(2, -1));
    // Screen writes lines from their beginning, and only where they are empty
    if (!token.startsWith("\x1b") && token !== "\r") this.#put(token);
    if (this.#row < 0) throw new Error("above the first line");
  }

  #put(text: string): void {
    if (this.#lines[this.#row]) throw new Error("on top of what is there");
    this.#lines[this.#row] = text;
  }

  get below(): string {
    return this.#lines.slice(this.#row).join("");
  }

  get text(): string[] {
    return this.#lines.slice(0, this.#row);
  }
}

const onTerminal = () => {
  const terminal = new Terminal();
  return { terminal, screen: new Screen(terminal, { NO_COLOR: "1" }) };
};

describe("on a terminal", () => {
  it("redraws lines in place, however many there are", () => {
    const { terminal, screen } = onTerminal();
    screen.print(line("stays"));
    screen.live([line("a"), line("b"), line("c")]);
    expect(terminal.text).toEqual(["stays", "a", "b", "c"]);
    screen.live([line("d")]);
    expect(terminal.text).toEqual(["stays", "d"]);
    screen.live([line("e"), line("f")]);
    expect(terminal.text).toEqual(["stays", "e", "f"]);
    screen.live([]);
    expect(terminal.text).toEqual(["stays"]);
    expect(terminal.below).toEqual("");
  });

  it("prints above the lines that are redrawn", () => {
    const { terminal, screen } = onTerminal();
    screen.live([line("live")]);
    screen.print(line("one"), line("two"));
    expect(terminal.text).toEqual(["one", "two", "live"]);
  });

  it("cuts redrawn lines so that none wraps, and so many that none scrolls away", () => {
    const { terminal, screen } = onTerminal();
    screen.live(Array.from({ length: 9 }, () => line("x".repeat(30))));
    expect(terminal.text).toEqual(Array(4).fill(`${"x".repeat(18)}…`));
  });

  it("hides the cursor only while lines are redrawn", () => {
    const { terminal, screen } = onTerminal();
    screen.live([line("live")]);
    expect(terminal.cursorVisible).toBe(false);
    screen.live([]);
    expect(terminal.cursorVisible).toBe(true);
    screen.live([line("live")]);
    screen.restore();
    expect(terminal.cursorVisible).toBe(true);
  });
});

describe("elsewhere", () => {
  it.each([
    ["a pipe", { isTTY: false }, {}],
    ["a terminal that can do nothing", { isTTY: true }, { TERM: "dumb" }],
  ])("%s gets plain lines, and none that are redrawn", (_, kind, env) => {
    let text = "";
    const screen = new Screen({ ...kind, write: (more: string) => (text += more) }, env);
    screen.live([line("live")]);
    screen.print(line("stays", "green"));
    screen.live([]);
    screen.restore();
    expect(text).toBe("stays\n");
    expect(screen.size).toBeUndefined();
  });
});

describe("printing clipped", () => {
  it("cuts on a terminal only", () => {
    const { terminal, screen } = onTerminal();
    screen.printClipped(line("x".repeat(30)));
    expect(terminal.text).toEqual([`${"x".repeat(19)}…`]);
    let text = "";
    new Screen({ write: (more: string) => (text += more) }, {}).printClipped(line("x".repeat(30)));
    expect(text).toBe(`${"x".repeat(30)}\n`);
  });
});

describe("printing wrapped", () => {
  it.each([
    ["a terminal", { isTTY: true, columns: 30 }, 30],
    ["a pipe", {}, 80],
  ])("no line is wider than %s", (_, kind, width) => {
    let text = "";
    new Screen({ ...kind, write: (more: string) => (text += more) }, {}).printWrapped(line("words ".repeat(30)));
    const lines = text.trimEnd().split("\n");
    expect(lines.length).toBeGreaterThan(1);
    expect(lines.filter(({ length }) => length > width)).toEqual([]);
    expect(text.match(/words/g)).toHaveLength(30);
  });
});

describe("colours", () => {
  const printed = (env: NodeJS.ProcessEnv) => {
    let text = "";
    new Screen({ isTTY: true, write: (more: string) => (text += more) }, env).print(line("x", "green"));
    return text;
  };

  it("are shown unless the user wants none", () => {
    expect(printed({})).toContain("\x1b[32mx");
    expect(printed({ NO_COLOR: "1" })).not.toContain("\x1b[32m");
  });
});
