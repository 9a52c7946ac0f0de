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
  ["import ippolicie", "There is no kind ippolicie. Did you mean ippolicy?"],
  ["tree pod/x", /^There is no kind pod\. Give one of apikey, /],
])("%s is answered by the kind that was meant", async (line, said) => {
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
