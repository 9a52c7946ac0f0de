import { describe, expect, test, vi } from "vitest";
import { useFixedServices } from "../../../test/fakes/cli/run.ts";

const { run, failing, altering } = useFixedServices();

const missing = (id: string): string => `Give another id: the account has no ${id}`;

describe("ids that the account does not have", () => {
  test("are all told", async () => {
    const { code, stdout, stderr } = await run("import ra_8 ra_9 ipp_nobody");
    expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringContaining("id: ipp_nobody") });
    expect(stderr.split("\n")).toEqual(["1 object written; this is not all:", missing("ra_8"), missing("ra_9")]);
  });

  test("are told beside what else is missing", async () => {
    const { stderr } = await run("import edghts_9/edghtsrt_9 ra_9");
    expect(stderr.split("\n").slice(1)).toEqual([
      expect.stringMatching(/edghts_9\/edghtsrt_9 has no modules, or does not exist$/),
      missing("ra_9"),
    ]);
  });

  test("are not told while a list fails that may have them", async () => {
    failing(({ path }) => (path === "/reserved_addrs" ? { status: 403, body: { msg: "no" } } : undefined));
    const { code, stderr } = await run("import ipp_nobody ra_9");
    expect(code).toBe(1);
    expect(stderr).toContain("reserved_addrs");
    expect(stderr).not.toContain("ra_9");
  });
});

test.each([
  ["--context nope", 'The kubeconfig has nothing named "nope" among its contexts'],
  ["--kubeconfig /none/config", "There is no kubeconfig /none/config"],
])("a cluster that %s misspells is told, although flags name the account", async (flag, said) => {
  const account = `--base-url ${process.env["GATEWAY_BASE_URL"]}`;
  expect(await run(`import ippolicies ${account} ${flag}`)).toEqual({ code: 1, stdout: "", stderr: said });
});

describe("without the objects of the cluster", () => {
  const account = () => `--base-url ${process.env["GATEWAY_BASE_URL"]}`;
  const lines = (message: string) => ["1 object written; this is not all:", `${UNKNOWN}: ${message}`];
  const UNKNOWN = "Another object may have the name of one of these";
  const forbidden = { kind: "Status", code: 403, reason: "Forbidden", message: "no" };

  test("an account that flags name is imported, and names that may be taken are told", async () => {
    failing(({ path }) => (path.startsWith("/apis/") ? { status: 503, body: "etcd is away" } : undefined));
    const { code, stdout, stderr } = await run(`import ippolicies ${account()}`);
    expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringMatching(/./) });
    expect(stderr.split("\n").slice(0, 2)).toEqual(lines("The cluster answers with status 503: etcd is away"));
  });

  test("a kind that may not be listed is told, and the names of the other kinds are known", async () => {
    altering((body, { path }) => {
      const { items } = body as { items?: { metadata: object }[] };
      const isHere = path.endsWith("/namespaces/shop/agentingresses") && items;
      return isHere ? { ...body, items: [{ metadata: { name: "agents-shop-example" }, spec: {} }] } : body;
    });
    failing(({ path }) => (path.endsWith("/ippolicies") ? { status: 403, body: forbidden } : undefined));
    const { code, stdout, stderr } = await run("import ippolicies agentingresses");
    expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringMatching(/name: agents-shop-example-\w+$/m) });
    expect(stderr).toContain(`${UNKNOWN}: You need a right in the cluster: no`);
  });

  test("a kind of which nothing is imported may be forbidden", async () => {
    failing(({ path }) => (path.endsWith("/tcpedges") ? { status: 403, body: forbidden } : undefined));
    expect(await run("import ippolicies tcpedges")).toMatchObject({ code: 0, stdout: expect.stringMatching(/./) });
  });

  test.each(["no kubeconfig", "no CRDs"])("no name can be taken with %s", async (what) => {
    if (what === "no kubeconfig") vi.stubEnv("KUBECONFIG", "/none/config");
    else failing(({ path }) => (path.startsWith("/apis/") ? { status: 404, body: "404 page not found" } : undefined));
    expect(await run(`import ippolicies ${account()}`)).toMatchObject({ code: 0, stdout: expect.stringMatching(/./) });
  });
});
