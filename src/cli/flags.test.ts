import { readdirSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, expect, it, onTestFinished, test } from "vitest";
import { useFixedServices } from "../../test/fakes/cli/run.ts";
import { json, serve } from "../../test/support/gateway-service.ts";
import { programOf } from "./program.ts";

const { run } = useFixedServices();

/** Each command with the least that it needs. */
const lines: Readonly<Record<string, string>> = {
  uninstall: "uninstall --policy delete",
  doctor: "doctor",
  import: "import --all",
  plan: "plan",
  diff: "diff ippolicy/office",
  users: "users ippolicy/office",
  orphans: "orphans",
  tree: "tree",
  why: "why tcpedge/db",
  move: "move ippolicy office headquarters --dry-run",
  status: "status",
};

const silent = { say: () => {}, warn: () => {} };
const { commands } = programOf({ name: "x", terminal: silent, run: async () => 0 }).program;
const flagsOf = (name: string) => commands.find((one) => one.name() === name)?.options ?? [];
const having = (flag: string) =>
  Object.entries(lines).filter(([name]) => flagsOf(name).some(({ long }) => long === flag));

/** A move inside a cluster needs no account. */
const reading = (flag: string) => having(flag).filter(([name]) => name !== "move");

describe("a flag that several commands have", () => {
  const shared = ["--kubeconfig", "--context", "--account", "--base-url", "--api-key-file", "--namespace"];

  it.each([
    ...having("--kubeconfig").map(([, line]) => `${line} --kubeconfig nowhere.yaml`),
    ...having("--context").map(([, line]) => `${line} --context nowhere`),
    ...reading("--account").map(([, line]) => `${line} --account nowhere`),
    ...reading("--api-key-file").map(([, line]) => `${line} --base-url http://127.0.0.1:1 --api-key-file /nowhere`),
  ])("is heeded by %s", async (line) => {
    expect(await run(line)).toMatchObject({ code: 1, stderr: expect.stringContaining("nowhere") });
  });

  it.each(reading("--base-url"))("--base-url and --api-key-file say where %s sends which key", async (_, line) => {
    const folder = await mkdtemp(join(tmpdir(), "flags-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    await writeFile(join(folder, "key"), "key-of-file\n");
    const { url, seen } = await serve((response) => json(response, 200, {}));
    await run(`${line} --base-url ${url} --api-key-file ${join(folder, "key")}`);
    expect(seen[0]?.headers.authorization).toBe("Bearer key-of-file");
  });

  it.each(having("--namespace"))("--namespace moves %s to another one", async (_, line) => {
    const other = await run(`${line} --namespace other`);
    expect(other).not.toEqual(await run(line));
  });

  it("is one of these, and a flag of one command has a test that names both", () => {
    const root = resolve(import.meta.dirname, "../..");
    const tests = ["src/cli", "test"].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
        .filter((name) => name.endsWith(".test.ts"))
        .map((name) => readFileSync(join(root, folder, name), "utf8")),
    );
    const text = tests.join("\n");
    // -A, --no-headers: below; --deployment: the Job of the chart; --watch: status/watch.test.ts. move reads folders as plan.
    const elsewhere = [...shared, "--all-namespaces", "--no-headers", "--deployment", "--watch"];
    const isUsed = (name: string, names: readonly string[]) =>
      new RegExp(`\\b${name}\\b[^\\n]{0,300}(?<![\\w-])(${names.join("|")})(?![\\w-])`).test(text);
    const unused = commands.flatMap((command) =>
      command.options
        .map(({ long, short }) => [long, short].filter((one) => one !== undefined && one !== null))
        .filter(([long = ""]) => !elsewhere.includes(long))
        .filter(([long]) => !(command.name() === "move" && long === "--recursive"))
        .filter((names) => !isUsed(command.name(), names))
        .map((names) => `${command.name()} ${names[0]}`),
    );
    expect(unused).toEqual([]);
  });
});

test.each([
  ["import --all --name-from id", "name: ipp-nobody"],
  ["import ippolicies --metadata team=a", undefined],
  ["import tunnelgroupbackends --selector app=db", "name: bkdtg-1"],
  ["import tunnelgroupbackends --selector app=shop", undefined],
  ["import ippolicies --no-mark", "managementPolicy: ObserveOnly"],
])("%s", async (line, said) => {
  const { stdout } = await run(line);
  if (said === undefined) expect(stdout).not.toContain("kind:");
  else expect(stdout).toContain(said);
});

test("import --all -o DIR --overwrite writes over what was edited", async () => {
  const folder = await mkdtemp(join(tmpdir(), "flags-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await run(`import ippolicies -o ${folder}`);
  const [file = ""] = readdirSync(folder);
  await writeFile(join(folder, file), "edited");
  expect((await run(`import ippolicies -o ${folder}`)).stderr).toContain("--overwrite");
  await run(`import ippolicies -o ${folder} --overwrite`);
  expect(readFileSync(join(folder, file), "utf8")).toContain("kind: IPPolicy");
});

test("plan -R reads the folders below a folder", async () => {
  const folder = await mkdtemp(join(tmpdir(), "flags-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, "below"));
  const policy = { apiVersion: "tunnelgateway.dev/v1", kind: "IPPolicy", metadata: { name: "below" }, spec: {} };
  await writeFile(join(folder, "below", "policy.json"), JSON.stringify(policy));
  expect((await run(`plan -f ${folder}`)).code).toBe(1);
  expect((await run(`plan -R -f ${folder}`)).stdout).toContain("IPPolicy shop/below");
});

test.each(["diff ippolicy/office", "tree ippolicy/office", "users ippolicy/office", "why ippolicy/office"])(
  "%s finds an object of another namespace with -A",
  async (line) => {
    expect(await run(`${line} -n other`)).toMatchObject({ code: 1, stdout: "" });
    expect(await run(`${line} -n other -A`)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/office|TCPEdge\/db/),
    });
  },
);

test.each([
  ["status", "IPPolicy"],
  ["tree", "TCPEdge/db"],
  ["orphans", "ipp_left"],
  ["plan", "TCPEdge shop/"],
])("%s is of the namespace of the context, of that of -n, or with -A of all", async (line, shown) => {
  expect((await run(line)).stdout).toContain(shown);
  expect((await run(`${line} -n other`)).stdout).not.toContain(shown);
  expect((await run(`${line} -n other -A`)).stdout).toContain(shown);
});

test.each(["tree", "orphans"])("%s counts what is elsewhere", async (line) => {
  expect((await run(`${line} -n other`)).stderr).toMatch(/^\d+ more in other namespaces/m);
});

test("a name is printed with its namespace where more than one may be meant", async () => {
  expect((await run("why tcpedge/db")).stdout).toContain("TCPEdge/db is Ready");
  expect((await run("why tcpedge/db -A")).stdout).toContain("TCPEdge shop/db is Ready");
});

test.each(["why", "diff", "users"])("%s takes several names, as kubectl does", async (command) => {
  const all = await run(`${command} tcpedge/db ippolicy/office -o json`);
  expect(all.code).toBe(0);
  expect((await run(`${command} tcpedge db nothing`)).stderr).toContain(
    'This is only a part:\nThere is no TCPEdge "nothing" in namespace shop',
  );
  expect((await run(`${command} tcpedge db nothing`)).code).toBe(1);
});

test.each([
  ["why tcpegde/db", "There is no kind tcpegde. Did you mean tcpedge?"],
  ["why tcpegde db", "There is no kind tcpegde. Did you mean tcpedge?"],
  ["move resrveddomain a b", "There is no kind resrveddomain. Did you mean reserveddomain?"],
  ["why gatewayaccount/default", /For GatewayAccount: kubectl describe gatewayaccounts/],
  ["tree gwcmd restart", /For AgentCommand: kubectl describe agentcommands/],
  ["import ippolicie", "There is no kind ippolicie. Did you mean ippolicy?"],
  ["import httpsedgeroute", "Name each HTTPSEdgeRoute by its ids, as in edghts_.../...: no list of the account shows"],
  ["import eventsource", "Name EventSubscription: each EventSource is imported as a part of it"],
  ["import httpsedgeroute/console", "Name each HTTPSEdgeRoute by its ids"],
  ["import tcpedge/db", "Give the id that the account has, or tcpedge alone: tcpedge/db names an object"],
  ["tree pod/x", /^There is no kind pod\. Give one of apikey, /],
])("%s is answered by what was meant", async (line, said) => {
  const { code, stderr } = await run(line);
  expect(code).toBe(2);
  expect(stderr).toMatch(typeof said === "string" ? new RegExp(said.replaceAll("?", "\\?")) : said);
});

test.each(["plan", "diff tcpedge/db", "users ippolicy/office", "orphans", "tree", "why tcpedge/db", "status"])(
  "%s has the formats of every list",
  async (line) => {
    for (const format of ["json", "yaml", "name", "wide"])
      expect((await run(`${line} -o ${format}`)).code).toBeLessThan(2);
    const { code, stderr } = await run(`${line} -o xml`);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/^-o must be json, yaml, name/) });
  },
);

test("an empty list says so", async () => {
  expect((await run("tree -n other")).stderr).toContain("There are no objects in namespace other");
  expect((await run("orphans -n other")).stderr).toContain("There are no orphans in namespace other");
  expect((await run("orphans -n other --delete --yes")).stderr).toContain("There are no orphans in namespace other");
  expect((await run("status -n other")).stdout).toContain("There are no objects in namespace other");
});

test.each([
  ["tree", "NAME "],
  ["users ippolicy/office", "USER "],
  ["status", "NAMESPACE "],
  ["why tcpedge/db", "LAST SEEN "],
])("%s prints no headings with --no-headers", async (line, heading) => {
  expect((await run(line)).stdout).toContain(heading);
  const { stdout } = await run(`${line} --no-headers`);
  expect(stdout).not.toContain(heading);
  expect(stdout).not.toBe("");
});

test.each(["doctor", "uninstall --policy delete"])("%s takes the flags that select the cluster", async (line) => {
  for (const flag of ["--context nowhere", "--kubeconfig nowhere.yaml"])
    expect(await run(`${line} ${flag}`)).toMatchObject({ code: 1, stderr: expect.stringContaining("nowhere") });
});

test("doctor checks the cluster of the given context", async () => {
  expect((await run("doctor --context fixed")).stdout).toBe((await run("doctor")).stdout);
});

test("who waits sees at once that something is done, and nothing of it is left", async () => {
  const shown: [string, ...unknown[]][] = [];
  await run("diff tcpedge/db", { progress: (...progress) => void shown.push(progress) });
  expect(shown[0]).toEqual(["Working"]);
  expect(shown).toContainEqual(["Reading apikeys", { done: 0, all: expect.any(Number) }]);
  expect(shown.slice(-2)).toEqual([["Reading the remote of TCPEdge/db"], [""]]);
});

test("import leaves out managed remotes, with or without the flag", async () => {
  const { stdout } = await run("import --all");
  expect((await run("import --all --exclude-managed")).stdout).toBe(stdout);
  expect((await run("import --all --no-exclude-managed")).stdout.length).toBeGreaterThan(stdout.length);
});
