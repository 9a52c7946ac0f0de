import { expect, test } from "vitest";
import { useFixedServices } from "../../test/fakes/cli/run.ts";

const { run } = useFixedServices();

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

test("status counts the objects of all namespaces with -A", async () => {
  expect((await run("status -n other")).stdout).not.toContain("IPPolicy");
  expect((await run("status -n other -A")).stdout).toContain("IPPolicy");
});

test.each(["plan", "orphans"])("%s covers all namespaces with and without -A", async (line) => {
  const { stdout } = await run(line);
  expect(stdout).toContain("shop");
  expect((await run(`${line} -n other --all-namespaces`)).stdout).toBe(stdout);
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

test("diff shows progress on a terminal, and erases it in the end", async () => {
  const shown: string[] = [];
  await run("diff tcpedge/db", { progress: (text) => void shown.push(text) });
  expect(shown).toEqual(["Reading objects", "", "Reading the remote of TCPEdge/db", ""]);
});

test("import leaves out managed remotes, with or without the flag", async () => {
  const { stdout } = await run("import --all");
  expect((await run("import --all --exclude-managed")).stdout).toBe(stdout);
  expect((await run("import --all --no-exclude-managed")).stdout.length).toBeGreaterThan(stdout.length);
});
