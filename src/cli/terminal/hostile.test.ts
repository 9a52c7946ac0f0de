import { expect, test } from "vitest";
import { FORGED, HOSTILE, hostile, withLongTexts } from "../../../test/fakes/cli/hostile.ts";
import { useFixedServices } from "../../../test/fakes/cli/run.ts";
import type { Terminal } from "./terminal.ts";

// Whoever may write one text in the account, in an object or in an answer, decides nothing of what a person sees.

const { run, failing, altering } = useFixedServices();

const withoutColours = (text: string): string =>
  ["90", "31", "32", "33", "0"].reduce((rest, code) => rest.replaceAll(`\x1b[${code}m`, ""), text);

function expectSafe({ stdout, stderr }: { stdout: string; stderr: string }): void {
  for (const text of [stdout, stderr]) {
    expect(withoutColours(text).replaceAll("\n", "")).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
    for (const line of text.split("\n")) expect(line.trim().startsWith(FORGED)).toBe(false);
  }
}

const commands = [
  ...["plan", "plan -f edge.yaml", "diff ippolicy office", "diff tcpedge/warehouse-of-the-second-region"],
  ...["tree", "tree --up -A", "why tcpedge/warehouse-of-the-second-region", "why tcpedge/refused"],
  ...["users ippolicy/office", "users sshcredential/builder", "orphans --unmanaged", "orphans --unmanaged --import"],
  ...[
    "status",
    "doctor",
    "import --all",
    "import --all --no-exclude-managed",
    "move ippolicy office headquarters --dry-run",
  ],
  ...["uninstall --policy delete --timeout 1s"],
];

const forPrograms = [
  ...["plan -o json", "plan -o yaml", "diff ippolicy/office -o json", "tree -o json", "tree -o yaml", "tree -o dot"],
  ...["tree -o mermaid", "why tcpedge/refused -o json", "users ippolicy/office -o json", "orphans --unmanaged -o json"],
  ...["orphans --unmanaged -o name", "status -o json", "status -o yaml", "doctor -o json"],
];

/** They print no text of the account, and of objects only names; import leaves out what has such an id. */
const silent = ["doctor", "users sshcredential", "uninstall", "import", "orphans --unmanaged --import"];

const terminals: Partial<Terminal>[] = [{}, { columns: 80, hasColours: true }];

test.each([...commands, ...forPrograms])("%s shows hostile texts as they are, and obeys none", async (line) => {
  altering((body) => hostile(body) as object);
  for (const terminal of terminals) {
    const ended = await run(line, terminal);
    expectSafe(ended);
    if (silent.some((one) => line.startsWith(one))) continue;
    expect(`${ended.stdout}${ended.stderr}`).toMatch(/\\(x1b|u001b|e)\[2J/);
  }
});

test.each(commands)("%s shows hostile answers to what fails as they are, and obeys none", async (line) => {
  const said = { kind: "Status", message: HOSTILE, msg: HOSTILE, error_code: HOSTILE, status_code: 422, code: 422 };
  const isService = (path: string) => !/^\/(apis?|version|openapi)(\/|$)/.test(path);
  const answers = [
    { status: 403, body: said },
    { status: 422, body: HOSTILE },
  ] as const;
  for (const where of [isService, (path: string) => !isService(path)])
    for (const answer of answers) {
      failing(({ path }) => (where(path) ? answer : undefined));
      expectSafe(await run(line));
    }
});

test.each(commands)("%s shows the beginning of what is very long", async (line) => {
  altering(withLongTexts);
  for (const terminal of terminals) {
    const { stdout, stderr } = await run(line, terminal);
    expect(stdout.length + stderr.length).toBeLessThan(20_000);
  }
});
