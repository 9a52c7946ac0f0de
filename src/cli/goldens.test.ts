import { expect, test, vi } from "vitest";
import { parse } from "yaml";
import { type Ended, useFixedServices } from "../../test/fakes/cli/run.ts";
import { outputs } from "./outputs.ts";
import { programOf } from "./program.ts";
import { type Terminal, terminalOn } from "./terminal/terminal.ts";

// What each command prints for one account at one time: in a pipe, and on terminals of 80 and 160 columns. After a
// change, `npm run test:unit -- src/cli/goldens.test.ts -u` writes the files in goldens anew: read their difference.

const { run, writing } = useFixedServices();

const transcript = ({ code, stdout, stderr }: Ended): string =>
  [stdout, ...(stderr ? [`[stderr]\n${stderr}`] : []), `[exit code ${code}]`].filter(Boolean).join("\n");

const terminals: Record<string, Partial<Terminal>> = {
  "80 columns": { columns: 80 },
  "160 columns": { columns: 160 },
  "80 columns, with colours": { columns: 80, hasColours: true },
  "160 columns, with colours": { columns: 160, hasColours: true },
};

test.each([
  "plan",
  "plan -f edge.yaml",
  "diff tcpedge/db",
  "diff ippolicy office",
  "diff tcpedge/warehouse-of-the-second-region",
  "tree",
  "tree ippolicy/office --up",
  "why tcpedge/warehouse-of-the-second-region",
  "why tcpedge/db",
  "why tcpedge/refused",
  "users ippolicy/office",
  "users ippolicy/office -o wide",
  "users sshcredential/builder",
  "users reserveddomain/shop",
  "orphans --unmanaged",
  "status",
  "doctor",
  "version",
  "import --all",
  "move ippolicy office headquarters --dry-run",
  "tree -o dot",
  "tree -o mermaid",
  "users ippolicy/office -o name",
  "orphans -o name",
  "orphans --no-headers",
  "--help",
  "completion bash",
  "completion zsh",
  "completion fish",
  "uninstall",
])("%s", (line) => expectGolden(line, line));

/** What a command prints on each terminal. Where that is as in a pipe, the file says so. */
async function expectGolden(line: string, name: string): Promise<void> {
  const inPipe = transcript(await run(line));
  const parts: string[] = [];
  for (const [title, terminal] of Object.entries(terminals)) {
    const text = transcript(await run(line, terminal));
    parts.push(`=== ${title}\n${text === inPipe ? "as in a pipe" : text}`);
  }
  const all = [`$ kubectl tunnelgateway ${line}`, `=== in a pipe\n${inPipe}`, ...parts].join("\n\n");
  // A colour is readable in a file as the name of its escape sequence.
  await expect(`${all}\n`.replaceAll("\x1b", "\\e")).toMatchFileSnapshot(`${fileOf(name)}.txt`);
}

test.each([
  ["retain, while an operator runs", "uninstall --policy retain", "done", "gateway"],
  ["retain, where nobody knows of an operator", "uninstall --policy retain", "done", undefined],
  ["delete", "uninstall --policy delete", "done", "gateway"],
  ["delete, where nobody knows of an operator", "uninstall --policy delete", "done", undefined],
  [
    "delete, while nobody does what the account needs",
    "uninstall --policy delete --yes --timeout 1s",
    "ignored",
    undefined,
  ],
] as const)("uninstall: %s", async (what, line, how, namespace) => {
  if (namespace) vi.stubEnv("POD_NAMESPACE", namespace);
  writing(how);
  const text = `$ kubectl tunnelgateway ${line}\n\n${transcript(await run(line))}\n`;
  await expect(text).toMatchFileSnapshot(`${fileOf(`uninstall ${what}`)}.txt`);
});

test.each([
  ["plan", "plan"],
  ["diff", "diff ippolicy/office"],
  ["tree", "tree"],
  ["why", "why tcpedge/warehouse-of-the-second-region"],
  ["why", "why tcpedge/refused"],
  ["users", "users ippolicy/office"],
  ["orphans", "orphans --unmanaged"],
  ["status", "status"],
  ["doctor", "doctor"],
  ["version", "version"],
] as const)("%s prints output that matches its schema, and nothing else", async (command, line) => {
  const { stdout } = await run(`${line} -o json`);
  const value: unknown = JSON.parse(stdout);
  // Members that a schema does not name are left out by `parse`.
  expect(outputs[command].parse(value)).toEqual(value);
  await expect(`${stdout}\n`).toMatchFileSnapshot(`${fileOf(line)}.json`);
  expect(parse((await run(`${line} -o yaml`)).stdout)).toEqual(value);
});

test("a plan of the cluster is of the namespace that is named, or of all", async () => {
  expect((await run("plan")).stdout).toContain("shop/");
  expect((await run("plan -n shop")).stdout).toBe((await run("plan")).stdout);
  expect((await run("plan -n other")).stderr).toMatch(/^There are no objects in namespace other/);
  expect((await run("plan -n other -A")).stdout).toContain("shop/");
});

test.each([
  ...["plan", "diff tcpedge/db", "diff ippolicy/office", "tree", "users ippolicy/office", "orphans --unmanaged"],
  ...["status", "doctor", "version", "why tcpedge/refused"],
  ...["nothing", "why nothing/db", "plan -n other", "users ippolicy/nothing", "orphans --delete"],
])("no line of what is printed, or said beside it, is wider than the terminal: %s", async (line) => {
  expect(widthOf(await run(line, { columns: 80 }))).toBeLessThanOrEqual(80);
});

test("no line of the help of a command is wider than the terminal, or than 100 characters in a pipe", async () => {
  const names = programOf({ name: "", terminal: terminalOn({ out: () => {}, err: () => {} }), run: async () => 0 });
  for (const name of names.program.commands.map((command) => command.name())) {
    expect(widthOf(await run(`${name} --help`, { columns: 80 }))).toBeLessThanOrEqual(80);
    expect(widthOf(await run(`${name} --help`))).toBeLessThanOrEqual(100);
  }
});

const widthOf = ({ stdout, stderr }: Ended): number =>
  Math.max(...`${stdout}\n${stderr}`.split("\n").map(({ length }) => length));

/** Without its ending, in the folder of its command. */
function fileOf(line: string): string {
  const name = line.replaceAll(/[^a-z0-9]+/g, "-").replace(/^-/, "");
  return `goldens/${name.split("-")[0]}/${name}`;
}
