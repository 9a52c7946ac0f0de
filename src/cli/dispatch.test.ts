import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { dispatch } from "./dispatch.ts";
import { terminalOn } from "./terminal/terminal.ts";

async function call(...argv: string[]) {
  const lines: string[] = [];
  let ran = 0;
  const note = (text: string) => lines.push(text);
  const operate = async () => {
    ran += 1;
    return 7;
  };
  const code = await dispatch(argv, terminalOn({ out: note, err: note }), operate);
  return { code, ran, text: lines.join("").trimEnd() };
}

test("run runs the operator, with its exit code", async () => {
  expect(await call("run")).toEqual({ code: 7, ran: 1, text: "" });
});

test.each([
  ["a command that does not exist", ["unistall"], /no command unistall/],
  ["one that every object has", ["constructor"], /no command constructor/],
  ["an argument that run does not take", ["run", "--verbose"], /--verbose/],
  ["no policy", ["uninstall"], /--policy must be retain or delete/],
  ["another policy", ["uninstall", "--policy=purge"], /--policy must be retain or delete/],
  ["a bare number", ["uninstall", "--policy=retain", "--timeout=5"], /--timeout must be a duration/],
  ["an argument too many", ["doctor", "now"], /now/],
])("%s is refused before anything is done", async (_, argv, words) => {
  expect(await call(...argv)).toEqual({ code: 2, ran: 0, text: expect.stringMatching(words) });
});

test.each([[[]], [["--help"]], [["help"]], [["uninstall", "-h"]]])("%s shows the commands", async (argv) => {
  expect(await call(...argv)).toEqual({ code: 0, ran: 0, text: expect.stringContaining("uninstall") });
});

test("the help of a command has its flags", async () => {
  expect((await call("uninstall", "--help")).text).toContain("--policy <retain|delete>");
});

test("a command that is misspelt is named", async () => {
  expect((await call("unistall")).text).toContain("Did you mean uninstall?");
});

test("so is one that help is asked about", async () => {
  const text = expect.stringMatching(/^There is no command unistall \(Did you mean uninstall\?\) .*help unistall/);
  expect(await call("help", "unistall")).toEqual({ code: 2, ran: 0, text });
});

test.each([
  [["unistall"], "--help"],
  [["help", "unistall"], "--help"],
  [["doctor", "now"], "doctor --help"],
  [["uninstall", "--polcy=retain"], "uninstall --help"],
])("%s leads to the help that says what is right", async (argv, help) => {
  expect((await call(...argv)).text).toMatch(new RegExp(`\nTry: tunnel-gateway-operator ${help}$`));
});

test("version is that of the package", async () => {
  expect((await call("version")).text).toMatch(/^\d+\.\d+\.\d+/);
});

test("a cluster that cannot be reached gets one clear line", async () => {
  const kubeconfig = join(await mkdtemp(join(tmpdir(), "dispatch-")), "config");
  onTestFinished(() => rm(dirname(kubeconfig), { recursive: true }));
  const clusters = [{ name: "a", cluster: { server: "http://127.0.0.1:1" } }];
  const contexts = [{ name: "a", context: { cluster: "a" } }];
  await writeFile(kubeconfig, JSON.stringify({ clusters, contexts, "current-context": "a" }));
  expect(await call("status", "--kubeconfig", kubeconfig)).toEqual({
    code: 1,
    ran: 0,
    text: expect.stringMatching(/^The cluster cannot be reached: [^\n]+$/),
  });
});

test("files without a manifest are named, each with what is wrong", async () => {
  const folder = await mkdtemp(join(tmpdir(), "dispatch-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, "a.yaml"), "hello: there\n");
  await writeFile(join(folder, "b.yaml"), "apiVersion: tunnelgateway.dev/v1\nkind: Nope\nmetadata: {name: a}\n");
  const { code, text } = await call("plan", "-f", folder);
  expect(code).toBe(1);
  expect(text.split("\n")).toEqual([
    `${folder}/a.yaml:1: This is no manifest: it has no apiVersion and kind`,
    `${folder}/b.yaml:1: tunnelgateway.dev/v1 has no kind Nope`,
  ]);
});
